import { stringify } from "yaml";
import type { Resource } from "../../resources/resource.ts";
import { resources } from "../../resources/resources.ts";

/** A resource's example as the documentation of a package holds it: a whole program in YAML. */
export const exampleOf = (resource: Resource): string =>
  asExample(
    withReferences(resource).map(
      ({ name, example }) => [example.name, { type: `microapps:${name}`, properties: example.inputs }] as const,
    ),
  );

/** The example of the component. */
export const environmentExample = asExample([
  ["environment", { type: "microapps:Environment", properties: { file: "${pulumi.stack}.yaml" } }],
]);

function asExample(declared: readonly (readonly [name: string, declaration: object])[]): string {
  const program = stringify({ resources: Object.fromEntries(declared) }, { lineWidth: 0 });
  // The heading is inside, so that documentation in other languages leaves out all of it.
  return [
    "{{% examples %}}",
    "{{% example %}}",
    "## Example Usage",
    "",
    "```yaml",
    `${program}\`\`\``,
    "{{% /example %}}",
    "{{% /examples %}}",
  ].join("\n");
}

/** What a resource's example refers to, and then the resource. */
function withReferences(resource: Resource): Resource[] {
  const names = [...JSON.stringify(resource.example.inputs).matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  const referred = resources.filter(({ example }) => names.includes(example.name));
  return [...new Set([...referred.flatMap((each) => withReferences(each)), resource])];
}
