import { getStack } from "@pulumi/pulumi";
import { Environment } from "pulumi-microapps";

export const { organizations, teams, seeds, apps } = new Environment("environment", { file: `${getStack()}.yaml` });
