import type { CompletionPlace, Values } from "./words.ts";

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

export function fish(places: readonly CompletionPlace[], { stacks, files, choices, others }: Values): string {
  const paths = places.flatMap(({ path }) => (path === "" ? [] : [quoted(path)])).join(" ");
  const flag = (text: string): string => (text.startsWith("--") ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`);
  const takes = (text: string): string => {
    if (stacks.includes(text)) return " -x -a '(__microapps_stacks)'";
    if (files.includes(text)) return " -r -F";
    const all = choices.get(text);
    if (all) return ` -x -a ${quoted(all.join(" "))}`;
    return others.includes(text) ? " -x" : "";
  };
  const lines = places.flatMap(({ path, commands, options, values }) => {
    const at = `complete -c microapps -n ${quoted(`test (__microapps_place) = "${path}"`)}`;
    const stackNames = ["stack select", "stack rm", "cancel"].includes(path)
      ? [`${at} -f -a '(__microapps_stacks)'`]
      : [];
    return [
      ...commands.map(({ text, description }) => `${at} -f -a ${text} -d ${quoted(description)}`),
      ...values.map((text) => `${at} -f -a ${text}`),
      ...stackNames,
      ...options.map(({ text, description }) => `${at} ${flag(text)}${takes(text)} -d ${quoted(description)}`),
    ];
  });
  return `# microapps completion fish: microapps completion fish | source
function __microapps_stacks
  for file in Pulumi.*.yaml
    string replace -r '^Pulumi\\.(.*)\\.yaml$' '$1' -- $file
  end
end
function __microapps_place
  set -l place
  for word in (commandline -opc)[2..]
    if contains -- (string join ' ' -- $place $word) ${paths}
      set -a place $word
    end
  end
  echo "$place"
end
${lines.join("\n")}
`;
}
