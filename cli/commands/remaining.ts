/** A resource as a state has it. */
interface Known {
  type: string;
  urn: string;
  id: string;
  outputs: Readonly<Record<string, unknown>>;
}

const isOf = (type: string, { type: own }: Known): boolean => own.split(":").at(-1) === type;

/** Apps and messages, which no destroy removes since the platform can't. */
export function remaining(resources: readonly Known[]): string[] {
  const apps = resources.filter((resource) => isOf("GeneratedApp", resource));
  const messages = resources.filter((resource) => isOf("Notification", resource));
  return [
    ...apps.map(({ urn, outputs }) => {
      const link = outputs["editLink"];
      const where = typeof link === "string" ? ` at ${link}` : "";
      return `the app "${nameIn(urn)}" stays on the platform${where}: there is no way to delete an app`;
    }),
    ...(messages.length === 0
      ? []
      : [`messages that were sent stay sent: ${messages.map(({ urn }) => nameIn(urn)).join(", ")}`]),
  ];
}

const nameIn = (urn: string): string => urn.split("::").slice(3).join("::");
