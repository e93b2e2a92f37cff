# One sentence for each reason of refusal: what is wrong with the item, then what to do.

refusal-empty = The input is empty. Put its text in, or take it out of the inputs.
refusal-too-large = The input has more bytes than the declared limit. Split it, or raise `limits.bytes`.
refusal-encoding = The bytes are no text in the declared encoding. Save the input in that encoding, or declare the one it is in.
refusal-nul = A NUL character stands inside the text. It is probably no text at all: convert it to text, or take it out.
refusal-unsupported-kind = This kind of file is not read as text. Convert it to text (.txt, .md, .html or .eml), and run again.
refusal-unreadable = The file is there and cannot be read. Give the user who runs Pilote the right to read it.
refusal-not-a-file = A directory, a dangling link or a device stands in place of a file. Put the file there.
refusal-name-not-utf8 = The file’s name is not UTF-8, so no identifier can be made of it. Rename the file.
refusal-bad-record = The record is no JSON object, or its text field is absent or no text. Correct the line.
refusal-bad-id = The record’s identifier is absent, empty or of a type that is no identifier. Give the record an identifier.
refusal-duplicate-id = An earlier item bears the same identifier. Give each item an identifier of its own.
refusal-input-changed = The input has changed since the index was made. Put the old content back, or start a new trial.
refusal-too-long = The input has more tokens than the limit. Shorten or split it, or declare that it is to be cut.
refusal-ambiguous = No category is far enough above the next. Read the item yourself, or describe the categories more sharply.
refusal-not-finite = The output holds a value that is not finite, or nothing but zeros. Check the precision and the model.
refusal-wrong-width = The vector has another width than declared. Declare the model’s own width, or use the model that was meant.
refusal-outside-categories = The engine answered with a category that was not declared. Declare it, or correct the engine.
refusal-empty-output = The engine gave nothing. Look at the input, then try the item again.
refusal-output-cut = The output was cut at a length limit. Allow a longer output, then try the item again.
refusal-filtered = The engine’s own content policy withheld the output. Read the item yourself.
refusal-invalid-output = The output is not what the deliverable declares. Correct the engine’s output or the declared form.
refusal-bad-file = The output file is absent, empty or does not decode. Look at what the engine wrote, then try the item again.
refusal-by-engine = The engine refused the item. Its own words say why.
refusal-poison = The item alone ends or breaks the engine, again and again. Take it out, or report it to the engine’s makers.
refusal-no-answer = The engine answered for the other items and, asked again, not for this one. Look at the input, then try it again.

refusal-with-facts = { $sentence } ({ $facts })
fact = { $label }: { $value }
fact-separator = {""}; {""}
list-separator = {""}, {""}

# The names of facts.
fact-at = at
fact-deaths = times it ended the engine
fact-detail = detail
fact-expected = expected
fact-first = nearest
fact-first_score = its score
fact-limit = limit
fact-margin = margin
fact-second = next
fact-second_score = its score
fact-seen = seen
