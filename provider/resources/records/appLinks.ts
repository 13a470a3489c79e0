import { leadsTo, toFinishedAppLink } from "../../contract/apps.ts";
import type { AnswerOf } from "../../contract/endpoints.ts";
import { printableLine, quote } from "../../messages/text.ts";
import type { Context } from "../model/resource.ts";

/** Reason not to send people to a link; undefined when it leads to an app of the platform's. */
export function wrongWith(link: string, { appServer }: Pick<Context, "appServer">): string | undefined {
  const shown = printableLine(link);
  if (toFinishedAppLink(link) === undefined)
    return `is none to an app, such as https://…/workspace/apps/<app_id>: ${shown}`;
  if (appServer === undefined || leadsTo(appServer, link)) return undefined;
  return `does not lead to ${appServer}, which microapps:appServer names: ${shown}`;
}

/** The link of a platform that answers an ID alone leads to the app server, or to the platform itself. */
export function toWholeLink(
  { link, idKey }: AnswerOf<"createappwithprompt">,
  { appServer, platform, report }: Context,
): string {
  if (idKey === undefined) return link;
  const server = appServer?.replace(/\/+$/, "") ?? (URL.canParse(platform) ? new URL(platform).origin : platform);
  report.info(
    `the platform answered the app's ID as ${quote(idKey)} and no link: links lead to ${server}` +
      (appServer === undefined ? "; set microapps:appServer where apps have another address" : ""),
  );
  return `${server}${link}`;
}
