# A worker for tests, in bash: refuses every item, in its own words.
read -r hello <&"$PILOTE_READ_FD"
printf '{"type":"hello","protocol":1,"name":"shell"}\n' >&"$PILOTE_WRITE_FD"
while read -r line <&"$PILOTE_READ_FD"; do
  case "$line" in
  *'"type":"end"'*) exit 0 ;;
  esac
  batch=$(printf '%s' "$line" | sed 's/.*"batch":"\([^"]*\)".*/\1/')
  printf '%s' "$line" | grep -o '"wire":"[^"]*"' | while read -r wire; do
    printf '{"type":"answer",%s,"refused":{"detail":"a shell reads no text"}}\n' "$wire" >&"$PILOTE_WRITE_FD"
  done
  printf '{"type":"done","batch":"%s"}\n' "$batch" >&"$PILOTE_WRITE_FD"
done
