import type { GenerationState } from "../../platform/contract/values.ts";
import type { CallContext, Handler } from "../data/callContext.ts";
import { userOrInvited } from "../data/people.ts";
import { forbidden, notFound } from "../data/platformError.ts";
import type { EmulatedDialect } from "../data/settings.ts";

export interface App {
  id: string;
  ownerID: string;
  requesterID: string;
  prompt: string;
  created: number;
}

const columns = "a.id, owner_id AS ownerID, requester_id AS requesterID, prompt, a.created";

export function findApp({ database }: Pick<CallContext, "database">, appID: string): App | undefined {
  return database.one<App>(`SELECT ${columns} FROM apps a WHERE id = ?`, appID);
}

/**
 * True for the users who may edit an app (assumed): its owner, the user who had it generated, and platform
 * administrators.
 */
export const mayEdit = ({ user }: Pick<CallContext, "user">, app: App): boolean =>
  user.admin || app.ownerID === user.id || app.requesterID === user.id;

export const createappwithprompt: Handler<"createappwithprompt"> = (request, call) => {
  const { database, settings, newID, now, user } = call;
  if (!settings.license) throw forbidden("The license of this deployment does not include the generation of apps");
  const owner = userOrInvited(call, request.userEmail);
  const id = newID();
  database.run(
    "INSERT INTO apps VALUES (?, ?, ?, ?, ?, ?)",
    ...[id, owner.id, user.id, request.appPrompt, JSON.stringify(request.attachments ?? []), now],
  );
  return { link: `${settings.appServer.replace(/\/+$/, "")}/workspace/apps/${id}` };
};

export const createappwithpromptStatus: Handler<"createappwithpromptStatus"> = ({ appID }, call) => {
  const app = findApp(call, appID);
  if (!app) throw notFound("App", appID);
  if (!mayEdit(call, app)) throw forbidden("Only its owner can see how far an app is");
  return generation(app, call, call.now);
};

/**
 * Progress of a generation, in the words of the platform's profile. It follows from the time since its start alone, so
 * it survives a restart.
 */
export function generation(
  app: App,
  { settings, profile }: Pick<EmulatedDialect, "settings" | "profile">,
  now: number,
): { status: string; message?: string } {
  const part = settings.generationSeconds === 0 ? 1 : (now - app.created) / (settings.generationSeconds * 1000);
  const word = (state: GenerationState, usual: string): string =>
    Object.entries(profile?.statusWords ?? {}).find(([, meaning]) => meaning === state)?.[0] ?? usual;
  if (part < 0.25) return { status: word("pending", "queued") };
  if (part < 1) return { status: word("pending", "generating") };
  if (settings.failingPrompts !== undefined && app.prompt.includes(settings.failingPrompts)) {
    return { status: word("failed", "failed"), message: "The app could not be generated" };
  }
  return { status: word("ready", "completed") };
}
