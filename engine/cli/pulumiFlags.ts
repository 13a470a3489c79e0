/** Flags of the Pulumi CLI that are refused: as the help writes them, with the reason or the way out. */
export type Refusals = Readonly<Record<string, string>>;

const part = "work on a part of a stack";
const plans = "update plans";
const shown = "another choice of what is shown: use --json, whose lines have everything";
const remote = "remote deployments";
const onCommandLine = "configuration on the command line: use 'config set'";
const otherFile = "another configuration file: name the stack with --stack";
const secretsProvider = "secrets providers other than the passphrase";
const neo = "Pulumi Neo";
const automation = "the CLI's own automation: start this command itself";
const debugging = "debug logging, which may show secrets";
const inMemory = "profiles of the Pulumi CLI";
const spans = "tracing in the older format; for spans set OTEL_EXPORTER_OTLP_ENDPOINT";

const remoteSettings = [
  ...["--remote-agent-pool-id", "--remote-env", "--remote-env-secret", "--remote-executor-image"],
  ...["--remote-executor-image-password", "--remote-executor-image-username", "--remote-git-auth-access-token"],
  ...["--remote-git-auth-password", "--remote-git-auth-ssh-private-key", "--remote-git-auth-ssh-private-key-path"],
  ...["--remote-git-auth-username", "--remote-git-branch", "--remote-git-commit", "--remote-git-repo-dir"],
  "--remote-pre-run-command",
];

/** Refused flags of `preview`, `up`, `refresh` and `destroy`. */
const ofOperations: Refusals = {
  "-t, --target <urn>": part,
  "--target-dependents": part,
  "--target-replace <urn>": part,
  "--replace <urn>": "force replacements: use 'pulumi state taint', then up",
  "-x, --exclude <urn>": part,
  "--exclude-dependents": part,
  "--exclude-protected": part,
  "--ignore-protect": "delete what is protected: take 'protect' out of the program, run up, then delete it",
  "--plan <file>": plans,
  "--save-plan <file>": plans,
  "--strict": plans,
  "--policy-pack <path>": "policies",
  "--policy-pack-config <path>": "policies",
  "--show-policy-remediations": "policies",
  "--continue-on-error": "go on after an error",
  "--import-file <file>": "imports: 'microapps dump' writes a file for 'pulumi import --file'",
  "--import-pending-creates <pair>": "imports",
  "--config-file <file>": otherFile,
  "-c, --config <key=value>": onCommandLine,
  "--config-path": onCommandLine,
  "--skip-config-validation": "run with a configuration that Pulumi.yaml does not allow: correct one of the two",
  "--override-env <pair>":
    "environments of Pulumi ESC: 'pulumi env run <environment> -- microapps …' gives their variables",
  "--run-program": "run the program for this",
  "--attach-debugger <what>": "debuggers",
  "--secrets-provider <provider>": secretsProvider,
  "--remote": remote,
  ...Object.fromEntries(remoteSettings.map((name) => [`${name} <value>`, remote])),
  "--remote-inherit-settings": remote,
  "--remote-skip-install-dependencies": remote,
  "--suppress-stream-logs": remote,
  "--remove": "remove the stack with its resources: run 'stack rm' afterwards",
  "--show-config": "showing the configuration: use 'config'",
  "--show-full-output": "values at full length: use --json",
  "--show-reads": shown,
  "--show-replacement-steps": shown,
  "--show-sames": shown,
  "--urns": "URNs in place of names: use --json, whose lines have both",
  "--event-log <file>": "a log of events in a file: use --json",
  "--neo": neo,
  "--neo-task-on-failure": neo,
  "--copilot": neo,
  "--client <address>": automation,
  "--exec-agent <name>": automation,
  "--exec-kind <kind>": automation,
  "-d, --debug": debugging,
};

/** Refused flags by command; the empty name has those of every command. */
export const refusedFlags: Readonly<Record<string, Refusals>> = {
  "": {
    "-e, --emoji": "emoji",
    "-Q, --fully-qualify-stack-names": "stacks of several organizations",
    "--disable-integrity-checking": "work on a state that is broken: 'pulumi state repair' mends it",
    "--logflow": debugging,
    "--logtostderr": debugging,
    "-v, --verbose <level>": debugging,
    "--memprofilerate <rate>": inMemory,
    "--profiling <prefix>": inMemory,
    "--tracing <endpoint>": spans,
    "--tracing-header <text>": spans,
    "--otel-traces <endpoint>": "spans by a flag: set OTEL_EXPORTER_OTLP_ENDPOINT",
  },
  preview: ofOperations,
  up: ofOperations,
  refresh: ofOperations,
  destroy: ofOperations,
  stack: {
    "--output <form>":
      "the resources of a stack as data: use 'stack export', or 'stack ls --output json' for the stacks",
    "--show-ids": "the resources of a stack: use 'stack export'",
    "--show-urns": "the resources of a stack: use 'stack export'",
    "--show-name": "the name alone: use 'stack ls'",
    "--show-secrets": "the resources of a stack: use 'stack export --show-secrets'",
  },
  "stack init": {
    "--copy-config-from <stack>": "copy configuration: copy Pulumi.<stack>.yaml, with its encryptionsalt",
    "--remote-config": "configuration that is kept elsewhere",
    "--secrets-provider <provider>": secretsProvider,
    "--teams <names>": "teams of Pulumi Cloud",
  },
  "stack ls": {
    "-a, --all": "stacks of other projects",
    "-o, --organization <name>": "stacks of other projects",
    "-p, --project <name>": "stacks of other projects",
    "-t, --tag <tag>": "tags of stacks",
  },
  "stack select": { "--secrets-provider <provider>": secretsProvider },
  "stack output": { "--shell": "outputs as shell variables: use --json" },
  "stack export": { "--version <number>": "states of earlier updates" },
  "stack rm": { "--remove-backups": "remove backups: they lie beside the state in .pulumi" },
  config: {
    "--config-file <file>": otherFile,
    "--open": "environments of Pulumi ESC",
  },
  "config get": { "--open": "environments of Pulumi ESC" },
  "config set": {
    "--type <type>": "values of a type: give --path for structured ones",
    "--raw": "text with its last newline",
  },
};
