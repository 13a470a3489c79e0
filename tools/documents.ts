import { format } from "oxfmt";
import { program } from "../cli/commands/program.ts";
import { masksJsonSchema } from "../cli/dump/masks.ts";
import { openapi } from "../emulator/http/openapi.ts";
import { readOwnPackage } from "../machine/ownPackage.ts";
import { jsonSchema } from "../provider/environment/schema.ts";
import { presentSchema } from "./packageSchema.ts";
import { commandsPage } from "./pages/commands.ts";
import { endpointsPage, errorsPage } from "./pages/endpoints.ts";
import { environmentPage } from "./pages/environment.ts";
import { packagePages } from "./pages/package.ts";
import { indexPage, installationPage } from "./pages/registry.ts";
import { writeSdkTypes } from "./sdkTypes.ts";

/** The files that are made of definitions, by path from docs. */
export async function documents(): Promise<Record<string, string>> {
  const schema = presentSchema(readOwnPackage().version);
  return {
    "openapi.json": `${JSON.stringify(openapi("https://platform.example.com"), undefined, 2)}\n`,
    "../sdk/environment/environment.schema.json": `${JSON.stringify(jsonSchema(), undefined, 2)}\n`,
    "masks.schema.json": `${JSON.stringify(masksJsonSchema(), undefined, 2)}\n`,
    "endpoints.md": endpointsPage(),
    "errors.md": errorsPage(),
    "environment-file.md": environmentPage(),
    "commands.md": commandsPage(program),
    "_index.md": indexPage(schema),
    "installation-configuration.md": installationPage(schema),
    ...packagePages(schema),
    "../sdk/args.ts": (await format("args.ts", writeSdkTypes(), { printWidth: 120 })).code,
  };
}

/** Folders below docs that hold nothing else. */
export const ownFolders = ["resources", "functions"];
