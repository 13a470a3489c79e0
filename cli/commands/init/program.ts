/** What a project may be declared in: files alone, or a program. */
export const languages = ["yaml", "typescript", "javascript", "python", "go"] as const;
export type Language = (typeof languages)[number];

const node = `runtime:
  name: nodejs
  options:
    typescript: false # Node runs TypeScript itself
`;
const python = `runtime:
  name: python
  options: { toolchain: pip, virtualenv: .venv }
`;
/** Where the states of a new project are kept, unless a variable names another place. */
export const backendUrl = "file://.";

const backend = `backend:
  url: ${backendUrl} # the state is in .pulumi/; leave it out to use the backend that you are logged in to
`;
const plugin = `plugins:
  providers: [{ name: microapps, path: node_modules/pulumi-microapps/plugin }]
`;

/** The program's files by name: one Environment of the file that is called as the stack is. */
export function programFiles(language: Language, name: string): Record<string, string> {
  const project = (text: string): string => `name: ${name}\n${text}${backend}`;
  const file = "`${getStack()}.yaml`";
  const classes = `import { getStack } from "@pulumi/pulumi";
import { Environment } from "pulumi-microapps";

new Environment("environment", { file: ${file} });
`;
  switch (language) {
    case "typescript":
      return { "Pulumi.yaml": project(`${node}main: index.ts\n`), "index.ts": classes };
    case "javascript":
      return { "Pulumi.yaml": project(`${node}main: index.js\n`), "index.js": classes };
    case "yaml":
      return {
        "Pulumi.yaml": `${project("runtime: yaml # files only\n")}${plugin}resources:
  environment:
    type: microapps:Environment
    properties: { file: "\${pulumi.stack}.yaml" }
`,
      };
    case "python":
      return {
        "Pulumi.yaml": project(python),
        "requirements.txt": "pulumi>=3.200.0,<4.0.0\n",
        "__main__.py": `import pulumi
import pulumi_microapps as microapps

microapps.Environment("environment", file=f"{pulumi.get_stack()}.yaml")
`,
      };
    case "go":
      return {
        "Pulumi.yaml": project("runtime: go\n"),
        "go.mod": `module example.com/${name}\n\ngo 1.25.0\n\nrequire github.com/pulumi/pulumi/sdk/v3 v3.200.0\n`,
        "main.go": `package main

import (
	"example.com/pulumi-microapps/sdk/go/microapps"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		_, err := microapps.NewEnvironment(ctx, "environment", &microapps.EnvironmentArgs{
			File: pulumi.String(ctx.Stack() + ".yaml"),
		})
		return err
	})
}
`,
      };
  }
}
