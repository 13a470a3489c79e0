import { createRequire } from "node:module";
import { join } from "node:path";
import { hideProperties, unhidden } from "../../provider/pulumi/properties.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import type { TestedKind, Properties } from "./providerHost.ts";

const require = createRequire(import.meta.url);

/** As a message has them. */
const inOrder = (properties: Properties): Properties =>
  Object.fromEntries(Object.entries(properties).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** Renames the properties of a resource of this type. */
const renaming =
  (rename: typeof hideProperties) =>
  (properties: Properties, type: string): Properties => {
    const resource = resourceNamed(type);
    return inOrder(resource ? rename(resource, properties) : properties);
  };

/** The official dynamic-provider host of @pulumi/pulumi, with the resources as an SDK of ours declares them. */
export const dynamic: TestedKind = {
  name: "dynamic",
  program: require.resolve("@pulumi/pulumi/cmd/dynamic-provider"),
  nodeArguments: ["--allow-natives-syntax", "--min-semi-space-size=16", "--max-semi-space-size=16"], // as the embedded engine starts it
  // No kind has the time zone of the tests, and both do the same.
  environment: { PULUMI_NODEJS_PROJECT: "tests", PULUMI_NODEJS_STACK: "dev", TZ: "Asia/Kathmandu" },
  types: "pulumi-nodejs:dynamic/microapps",
  modern: false,
  configuration: (config) => ({ ...config }),
  given: (type, urn, news) => ({
    resourceUrn: urn,
    ...news,
    __provider: `exports.handler=()=>require("pulumi-microapps/dynamic").handler("${type}")`,
  }),
  own: ["resourceUrn", "__provider"],
  sent: renaming(hideProperties),
  seen: renaming(unhidden),
};

/** The plugin. */
export const plugin: TestedKind = {
  name: "plugin",
  program: join(import.meta.dirname, "../../bundle/pulumi-resource-microapps.js"),
  nodeArguments: [],
  environment: { TZ: "America/St_Johns" },
  types: "microapps:index",
  modern: true,
  configuration: (config) =>
    Object.fromEntries(
      Object.entries(config)
        .filter(([key]) => key !== "microapps:explicitProvider") // the plugin learns the type from the URN
        .map(([key, value]) => [key.replace(/^microapps:/, ""), value]),
    ),
  given: (_type, _urn, news) => news,
  own: [],
  sent: renaming(hideProperties),
  seen: renaming(unhidden),
};
