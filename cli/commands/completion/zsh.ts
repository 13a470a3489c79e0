import type { CompletionPlace, Values, CompletionWord } from "./words.ts";

const described = (words: readonly CompletionWord[]): string =>
  words.map(({ text, description }) => `'${text}:${description.replaceAll("'", "'\\''")}'`).join(" ");

export function zsh(places: readonly CompletionPlace[], { stacks, files, choices, others }: Values): string {
  const cases = places.map(({ path, commands, options, values }) => {
    const bare = [...commands, ...values.map((text) => ({ text, description: "" }))];
    return `    '${path}') bare=(${described(bare)}); options=(${described(options)}) ;;`;
  });
  const fixed = [...choices].map(([option, all]) => `    ${option}) compadd -- ${all.join(" ")}; return ;;`);
  const known = places.flatMap(({ path }) => (path === "" ? [] : [`'${path}'`])).join("|");
  return `#compdef microapps
# microapps completion zsh: source <(microapps completion zsh), after compinit
_microapps_stacks() {
  local -a names
  names=(Pulumi.*.yaml(N))
  names=(\${names#Pulumi.})
  compadd -- \${names%.yaml}
}
_microapps() {
  local place='' word
  local -a bare options
  for word in \${words[2,CURRENT-1]}; do
    case "\${place:+$place }$word" in
    ${known}) place="\${place:+$place }$word" ;;
    esac
  done
  case "\${words[CURRENT-1]}" in
    ${stacks.join("|")}) _microapps_stacks; return ;;
    ${files.join("|")}) _files; return ;;
${fixed.join("\n")}
    ${others.join("|")}) return ;;
  esac
  case "$place" in
${cases.join("\n")}
  esac
  case "\${words[CURRENT]}" in
    -*) _describe option options ;;
    *)
      case "$place" in
        'stack select'|'stack rm'|'cancel') _microapps_stacks ;;
        *) if (( $#bare )); then _describe command bare; else _files; fi ;;
      esac ;;
  esac
}
compdef _microapps microapps
`;
}
