import { createRequire } from "node:module";
import { join } from "node:path";
import type { Door } from "./providerHost.ts";

const require = createRequire(import.meta.url);

/** The official dynamic-provider host of @pulumi/pulumi, with the resources as an SDK of ours declares them. */
export const dynamic: Door = {
  name: "dynamic",
  program: require.resolve("@pulumi/pulumi/cmd/dynamic-provider"),
  environment: { PULUMI_NODEJS_PROJECT: "tests", PULUMI_NODEJS_STACK: "dev" },
  types: "pulumi-nodejs:dynamic/microapps",
  modern: false,
  configuration: (config) => ({ ...config }),
  given: (type, urn, news) => ({
    resourceUrn: urn,
    ...news,
    __provider: `exports.handler=()=>require("pulumi-microapps/dynamic").handler("${type}")`,
  }),
  own: ["resourceUrn", "__provider"],
};

/** The plugin. */
export const plugin: Door = {
  name: "plugin",
  program: join(import.meta.dirname, "../provider/cmd/pulumi-resource-microapps.js"),
  types: "microapps:index",
  modern: true,
  configuration: (config) =>
    Object.fromEntries(
      Object.entries(config)
        .filter(([key]) => key !== "microapps:explicitProvider") // the plugin tells by the URN
        .map(([key, value]) => [key.replace(/^microapps:/, ""), value]),
    ),
  given: (_type, _urn, news) => news,
  own: [],
};
