// A worker for tests, in node: a category for each text, the answers of a batch in reverse order.
import { createReadStream, readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

const to = Number(process.env.PILOTE_WRITE_FD);
const say = (message) => writeSync(to, JSON.stringify(message) + "\n");
const lines = createInterface({ input: createReadStream(null, { fd: Number(process.env.PILOTE_READ_FD) }) });

for await (const line of lines) {
  const message = JSON.parse(line);
  if (message.type === "hello") say({ type: "hello", protocol: 1, name: "reversed", credits: 3 });
  if (message.type === "batch") {
    for (const item of message.items.toReversed()) {
      const text = item.text ?? readFileSync(item.text_file, "utf8");
      say({ type: "answer", wire: item.wire, output: { category: text.toUpperCase(), score: 0.5 } });
    }
    say({ type: "done", batch: message.batch });
  }
  if (message.type === "end") break;
}
process.exit(0);
