import { stringify } from "yaml";
import type { PlatformFunction } from "../../functions/function.ts";
import type { Resource } from "../../resources/resource.ts";
import { resources } from "../../resources/resources.ts";

/** A resource's documentation for the package: description, example and import. */
export const documentationOf = (resource: Resource): string =>
  [
    resource.summary,
    exampleOf({ resources: declared(withReferences(resource.example.inputs), resource) }),
    importOf(resource),
  ].join("\n\n");

/** A function's documentation: its result, and an example. */
export function documentationOfFunction({ name, summary, example }: PlatformFunction): string {
  const resources = withReferences(example.inputs);
  const invoked = { "fn::invoke": { function: `microapps:${name}`, arguments: example.inputs } };
  const program = {
    ...(resources.length > 0 ? { resources: declared(resources) } : {}),
    variables: { found: invoked },
    outputs: { [example.output]: `\${found.${example.output}}` },
  };
  return [summary, exampleOf(program)].join("\n\n");
}

/** The example of the component. */
export const environmentExample = (): string =>
  exampleOf({
    resources: { environment: { type: "microapps:Environment", properties: { file: "${pulumi.stack}.yaml" } } },
  });

/** A whole program in YAML, as the documentation of a package holds it. */
export function exampleOf(program: object): string {
  // The heading is inside, so that documentation in other languages leaves out all of it.
  return [
    "{{% examples %}}",
    "{{% example %}}",
    "## Example Usage",
    "",
    "```yaml",
    `${stringify(program, { lineWidth: 0 })}\`\`\``,
    "{{% /example %}}",
    "{{% /examples %}}",
  ].join("\n");
}

function importOf({ name, example, importedBy }: Resource): string {
  const byID =
    "id" in importedBy
      ? [["```sh", `pulumi import microapps:index:${name} ${example.name} '${importedBy.id}'`, "```"].join("\n")]
      : [];
  const { otherwise } = importedBy;
  return ["## Import", ...byID, ...(otherwise === undefined ? [] : [otherwise])].join("\n\n");
}

const declared = (...all: (Resource | Resource[])[]): object =>
  Object.fromEntries(
    all.flat().map(({ name, example }) => [example.name, { type: `microapps:${name}`, properties: example.inputs }]),
  );

/** Resources that an example refers to, each after its own references. */
function withReferences(inputs: unknown): Resource[] {
  const names = [...JSON.stringify(inputs).matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  const referred = resources.filter(({ example }) => names.includes(example.name));
  return [...new Set(referred.flatMap((each) => [...withReferences(each.example.inputs), each]))];
}
