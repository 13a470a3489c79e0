import type { Emulator } from "../../emulator.ts";
import type { Caller } from "../platform.ts";

/** Names of the views, in the order of the navigation. */
export const views = ["Tables", "Organizations", "Users", "Files", "Inboxes", "Apps", "Calls", "Faults", "Snapshots"];

export const countries = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({
    Code: `C${String(n).padStart(3, "0")}`,
    Name: `Country ${n}`,
    Population: count - n,
  }));

/** Something in each view; `text` stands wherever people may write what they like. */
export async function everything(admin: Caller, emulator: Emulator, text = "plain"): Promise<void> {
  const rows = [{ Code: "CZ", Name: text, Population: 1 }, ...countries(2)];
  await admin.call("insertmicroapprows", { microAppID: "countries", rows });
  const [{ _id: rowID } = { _id: "" }] = (await admin.get("body.microAppRows", "microappdata", {
    microAppID: "countries",
  })) as { _id: string }[];
  await admin.get("", "insertorganization", {
    organizationInfo: { _id: "acme", name: `Acme ${text}`, description: text },
  });
  await admin.get("", "insertteam", {
    teamInfo: { _id: "crew", organizationID: "acme", name: `Crew ${text}`, description: text },
  });
  await admin.get("", "insertteammembers", { teamIDs: ["crew"], emails: ["ada@example.com", "new@example.com"] });
  const link = await admin.call("createappwithprompt", { userEmail: "ada@example.com", appPrompt: text });
  const appID = String(link.body).split("/").at(-1) ?? "";
  await admin.get("", "sendnotification", { appID, email: "ada@example.com", message: text, badgeCount: 4 });
  const content = { filename: text };
  const child = { microAppResourceID: "countries", appID: rowID, fieldID: "flag", content };
  await admin.get("", "microappchildCreate", child);
  emulator.setFaults({ faults: [{ kind: "status", status: 503, endpoint: "readteam" }] });
  await admin.call("readteam", { teamID: text });
  emulator.saveSnapshot("before");
}
