import type { CompletionPlace, Values } from "./words.ts";

/** For bash 3.2 and newer, which macOS still has. */
export function bash(places: readonly CompletionPlace[], { stacks, files, choices, others }: Values): string {
  const known = places.flatMap(({ path }) => (path === "" ? [] : [`"${path}"`])).join("|");
  const words = places.map(({ path, commands, options, values }) => {
    const bare = [...commands.map(({ text }) => text), ...values].join(" ");
    return `    "${path}") bare="${bare}"; options="${options.map(({ text }) => text).join(" ")}" ;;`;
  });
  const fixed = [...choices].map(([option, all]) => `    ${option}) _microapps_words "${all.join(" ")}"; return ;;`);
  return `# microapps completion bash: source <(microapps completion bash)
_microapps_words() {
  local IFS=$' \\t\\n'
  COMPREPLY=($(compgen -W "$1" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
# The stacks that have a configuration in this folder.
_microapps_stacks() {
  local file
  for file in Pulumi.*.yaml; do
    [ -e "$file" ] || continue
    file=\${file#Pulumi.}
    printf '%s ' "\${file%.yaml}"
  done
}
_microapps() {
  local word path="" bare="" options="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "\${path:+$path }$word" in
    ${known}) path="\${path:+$path }$word" ;;
    esac
  done
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
    ${stacks.join("|")}) _microapps_words "$(_microapps_stacks)"; return ;;
    ${files.join("|")}) COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")); return ;;
${fixed.join("\n")}
    ${others.join("|")}) return ;;
  esac
  case "$path" in
${words.join("\n")}
  esac
  case "$path" in
    "stack select"|"stack rm"|"cancel") bare="$(_microapps_stacks)" ;;
  esac
  case "\${COMP_WORDS[COMP_CWORD]}" in
    -*) _microapps_words "$options" ;;
    *) _microapps_words "$bare" ;;
  esac
}
complete -o default -F _microapps microapps
`;
}
