//! The fuzz targets' functions over mutated inputs: the same seeds and the same mutations in every run.

use pilote_corpus::fuzzing;

/// A generator with a fixed sequence (xorshift64*), so that a failure comes again.
struct Sequence(u64);

impl Sequence {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % below.max(1)
    }

    /// Changes, removes, repeats and inserts bytes in one to four places.
    fn mutated(&mut self, seed: &[u8]) -> Vec<u8> {
        let telling = [0, b'\n', b'\r', b'"', b'\\', b'{', b'<', b'=', b'&', 0x1b, 0x81, 0xc3, 0xd8, 0xff];
        let mut bytes = seed.to_vec();
        for _ in 0..=self.next(4) {
            let at = self.next(bytes.len() + 1).min(bytes.len());
            let end = (at + self.next(12)).min(bytes.len());
            match self.next(4) {
                0 => drop(bytes.drain(at..end)),
                1 => bytes.insert(at, telling[self.next(telling.len())]),
                2 => {
                    let repeated = bytes[at..end].to_vec();
                    bytes.splice(at..at, repeated);
                }
                _ if at < bytes.len() => bytes[at] ^= 1 << self.next(8),
                _ => {}
            }
        }
        bytes
    }
}

fn over_mutations(seeds: &[&[u8]], rounds: usize, check: fn(&[u8])) {
    let mut sequence = Sequence(0x9e37_79b9_7f4a_7c15);
    for seed in seeds {
        check(seed);
        for _ in 0..rounds {
            check(&sequence.mutated(seed));
        }
    }
}

#[test]
fn any_bytes_are_an_index_or_an_error() {
    let seeds: [&[u8]; 3] =
        [include_bytes!("../fixtures/index-1/000001"), include_bytes!("../fixtures/index-1/closed"), b""];
    over_mutations(&seeds, 3000, fuzzing::index);
}

#[test]
fn any_bytes_are_rows_with_text_or_a_fault() {
    let seeds: [&[u8]; 4] = [
        b"\xef\xbb\xbf{\"id\":\"a\",\"text\":\"\xc3\xa9t\xc3\xa9 \\u00e9\"}\r\n\n{\"id\":2,\"text\":\"deux\",\"x\":[1,{}]}\n",
        b"{\"id\":\"\\u0061\",\"text\":\"\\ud83e\\udd80\"}\n{\"id\":\"a\",\"text\":\"\"}\n{\"id\":\"A\",\"text\":\"t\"}",
        b"\xff\xfe{\0\"\0i\0d\0\"\0:\x001\0,\0\"\0t\0e\0x\0t\0\"\0:\0\"\0a\0\"\0}\0\r\0\n\0{\0}\0\n\0",
        b"{\"id\":\"\x95\x5c\",\"text\":\"\x93\xfa\x96\x7b\"}\n[]\nnull\n \n",
    ];
    over_mutations(&seeds, 3000, fuzzing::jsonl);
}

#[test]
fn any_bytes_are_a_document_with_text_or_a_fault() {
    let seeds: [&[u8]; 4] = [
        b"<!doctype html><meta charset=shift_jis><title>a</title><p>b&amp;c<br><script>x</script><pre> y\n</pre>",
        b"From: a@b\r\nSubject: =?utf-8?Q?caf=C3=A9?=\r\nDate: Mon, 30 Nov 2026 19:00:00 +0100\r\n\r\nwords\r\n",
        b"From: a@b\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/html; \
          charset=euc-jp\nContent-Transfer-Encoding: base64\n\nPHA+xvzL3DwvcD4=\n--x\nContent-Type: \
          message/rfc822\n\nSubject: in\n\nwords\n--x--\n",
        b"\xff\xfea\0b\0\xe9\0\n\0",
    ];
    over_mutations(&seeds, 400, fuzzing::document);
}

#[test]
fn any_bytes_are_comma_separated_values_with_text_or_a_fault() {
    let seeds: [&[u8]; 4] = [
        b"\xef\xbb\xbfid,text,x\r\na,\"one, \"\"two\"\"\r\nthree\",1\r\n\r\nb,deux,\r\n",
        b"text\tid\tx\nwords\t7\t\"\t\"\n\"\"\t8\t\n",
        b"\xff\xfei\0d\0,\0t\0e\0x\0t\0,\0x\0\n\0a\0,\0\"\0\n\0\"\0,\0b\0\n\0",
        b"id,text,x\n\x95\x5c,\x93\xfa\x96\x7b,\n",
    ];
    over_mutations(&seeds, 3000, fuzzing::csv);
}

#[test]
fn any_bytes_are_a_compressed_file_that_ends() {
    let rows = "{\"id\":1,\"text\":\"words\"}\n".repeat(40);
    let gzip = crate::compressed::gzip(rows.as_bytes());
    let zstd = crate::compressed::zstd(rows.as_bytes());
    let both = [gzip.clone(), gzip.clone(), zstd.clone()].concat();
    over_mutations(&[&gzip, &zstd, &both, b"\x50\x2a\x4d\x18\x04\0\0\0abcd"], 800, fuzzing::compressed);
}
