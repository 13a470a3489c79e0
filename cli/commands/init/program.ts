/** What a project may be declared in: files alone, or a program. */
export const languages = ["yaml", "typescript"] as const;
export type Language = (typeof languages)[number];

/** Where the states of a new project are kept, unless a variable names another place. */
export const backendUrl = "file://.";

/** The program's files by name: one Environment of the file that is called as the stack is. */
export function programFiles(language: Language, name: string): Record<string, string> {
  const head = `name: ${name}
backend:
  url: ${backendUrl} # the state is in .pulumi/; leave it out to use the backend that you are logged in to
`;
  if (language === "yaml")
    return {
      "Pulumi.yaml": `${head}runtime: yaml # files only
plugins:
  providers: [{ name: microapps, path: node_modules/pulumi-microapps/plugin }]
resources:
  environment:
    type: microapps:Environment
    properties: { file: "\${pulumi.stack}.yaml" }
`,
    };
  return {
    "Pulumi.yaml": `${head}runtime:
  name: nodejs
  options:
    typescript: false # Node runs TypeScript itself
main: index.ts
`,
    "index.ts": `import { getStack } from "@pulumi/pulumi";
import { Environment } from "pulumi-microapps";

new Environment("environment", { file: \`\${getStack()}.yaml\` });
`,
  };
}
