import * as pulumi from "@pulumi/pulumi";
import {
  AppReadiness,
  Environment,
  GeneratedApp,
  Notification,
  Provider,
  Team,
  type AppReadinessArgs,
  type EnvironmentArgs,
  type GeneratedAppArgs,
  type NotificationArgs,
  type ProviderArgs,
} from "pulumi-microapps";

const output = pulumi.output("text");
const userEmail = "ada@example.com";

export function tryGeneratedApp(): void {
  const args: GeneratedAppArgs = { userEmail, appPrompt: output, timeout: 60, statusWords: { ok: "ready" } };
  const atlas = new GeneratedApp("atlas", args);
  //                ^? new GeneratedApp(name: string, args: GeneratedAppArgs, options?: pulumi.CustomResourceOptions):
  // GeneratedApp An app generated from a text. A failed generation fails the wait for it.
  const ready: pulumi.Output<string> = atlas.ready;
  //                                         ^? (property) GeneratedApp.ready: pulumi.Output<string> Link to the
  // finished app; known once the app is ready, with `wait: "none"` once the generation has started.
  void [ready, atlas.appLink];
  //                 ^| appID appLink appPrompt attachments editLink getProvider id onPromptChange ready urn
  // userEmail
  new GeneratedApp("atlas", { userEmail, appPrompt: "An atlas.", wait: "none", onPromptChange: "replace" });
  //                          ^| attachments statusWords timeout userEmail
  // @ts-expect-error: '"done"' is not assignable
  new GeneratedApp("atlas", { userEmail, appPrompt: "An atlas.", wait: "done" });
  // @ts-expect-error: but required in type 'GeneratedAppArgs'
  new GeneratedApp("atlas", { userEmail });
  // @ts-expect-error: Type '"done"' is not assignable
  new GeneratedApp("atlas", { userEmail, appPrompt: "An atlas.", statusWords: { ok: "done" } });
}

export function tryAppReadiness(): void {
  const args: AppReadinessArgs = { appID: output, timeout: 60, statusWords: { ok: "ready" } };
  const readiness = new AppReadiness("atlas", args);
  //                    ^? new AppReadiness(name: string, args: AppReadinessArgs, options?:
  // pulumi.CustomResourceOptions): AppReadiness Waits for the generation of an app. GeneratedApp declares it, unless
  // `wait` is "none".
  const status: pulumi.Output<string> = readiness.status;
  //                                              ^? (property) AppReadinessOutputs.status: pulumi.Output<string> The
  // platform's own word for the state of the generation.
  void [status, readiness.id];
  //                      ^| appID getProvider id status statusWords timeout urn
  // @ts-expect-error: Property 'appID' is missing in type '{}' but required in type 'AppReadinessArgs'
  new AppReadiness("atlas", {});
  // @ts-expect-error: Type 'string' is not assignable to type 'Input<number>
  new AppReadiness("atlas", { appID: "a1", timeout: "60" });
}

export function tryNotification(): void {
  const args: NotificationArgs = { appID: output, email: userEmail, message: "Done.", triggers: { version: 1 } };
  const note = new Notification("note", args);
  //               ^? new Notification(name: string, args: NotificationArgs, options?: pulumi.CustomResourceOptions):
  // Notification A message to a user about an app: sent once, and again whenever its triggers change.
  const sentAt: pulumi.Output<string> = note.sentAt;
  //                                         ^? (property) NotificationOutputs.sentAt: pulumi.Output<string> When it
  // was sent last (ISO 8601); "imported" when that was not done here.
  void [sentAt, note.id];
  //                 ^| appID badgeCount channel email getProvider id message notificationCount pushCount sentAt
  // triggers urn
  new Notification("note", { appID: "a1", email: output, channel: "inApp", badgeCount: 0 });
  //                                                               ^| default inApp push
  // @ts-expect-error: '"sms"' is not assignable
  new Notification("note", { appID: "a1", email: output, channel: "sms" });
  // @ts-expect-error: Property 'email' is missing in type '{ appID: string; }' but required in type 'NotificationArgs'
  new Notification("note", { appID: "a1" });
}

export function tryEnvironment(): void {
  const args: EnvironmentArgs = { file: "dev.yaml" };
  const dev = new Environment("dev", args, { protect: true });
  //              ^? new Environment(name: string, args: EnvironmentArgs, options?: pulumi.ComponentResourceOptions):
  // Environment Organizations, teams, members, seed rows and generated apps, declared in one YAML file. Resources are
  // named `<environment>/<logical name>`, so a rename on the platform is an update; a wrong file ends the program
  // before any resource is registered, with every problem at its file, line and column.
  const teams: pulumi.Output<Record<string, string>> = dev.teams;
  //                                                       ^?
  // (property) Environment.teams: pulumi.Output<Record<string, string>> IDs of the teams by `organization/team`.
  const rows: pulumi.Output<Record<string, number>> = dev.seeds;
  void [teams, rows, dev.urn];
  //                     ^| apps getProvider organizations seeds teams urn
  new Environment("dev", { file: "dev.yaml" });
  //                       ^| file
  // @ts-expect-error: 'fiel' does not exist in type 'EnvironmentArgs'
  new Environment("dev", { fiel: "dev.yaml" });
  // @ts-expect-error: 'declaration' does not exist in type 'EnvironmentArgs'
  new Environment("dev", { file: "dev.yaml", declaration: {} });
  // @ts-expect-error: Property 'file' is missing in type '{}' but required in type 'EnvironmentArgs'
  new Environment("dev", {});
  // @ts-expect-error: Property 'id' does not exist on type 'Environment'
  void dev.id;
}

export function tryProvider(): void {
  const args: ProviderArgs = { endpoint: "https://example.com", readOnly: true, userID: output, token: output };
  const other = new Provider("other", args);
  //                ^? new Provider(name: string, args: ProviderArgs, options?: pulumi.ResourceOptions): Provider A
  // platform and an account of its own, for the option `provider` of a resource or `providers` of a component: two
  // platforms in one program. A key that is left out comes from its environment variable.
  const settings: pulumi.Output<string> = other.settings;
  //                                            ^? (property) Provider.settings: pulumi.Output<string> Its arguments
  // as JSON, a secret: functions use them to ask the same platform.
  void [settings, other.id];
  //                    ^| getProvider id settings urn
  new Provider("other", { profile: "platform-profile.yaml", consistencySeconds: 0, wireNames: { storecopy: "store" } });
  //                      ^| apiKey appServer driftOnPreview email endpoint insecure lostData movedFrom organizationID
  // password profile readOnly token userID
  new Team("crew", { organizationID: output, name: "Crew" }, { provider: other });
  // @ts-expect-error: 'readonly' does not exist in type 'ProviderArgs'
  new Provider("other", { endpoint: output, readonly: true });
  // @ts-expect-error: Type '"yes"' is not assignable
  new Provider("other", { readOnly: "yes" });
  // @ts-expect-error: Type 'string' is not assignable to type 'ProviderResource
  new Team("crew", { organizationID: output, name: "Crew" }, { provider: "other" });
}
