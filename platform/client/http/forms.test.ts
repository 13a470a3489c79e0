import { expect, test } from "@jest/globals";
import { MemberLists } from "../../../provider/people/members.ts";
import { casesIn } from "../../../testing/harness/cases.ts";
import type { EndpointName } from "../../contract/endpoints.ts";
import { serve } from "../testing/server.ts";
import { parseReply } from "./messages.ts";

// Forms of answers: those that the specification or public client code names are read, any other is refused with the keys
// that came and those that were expected.

const parsed = (name: EndpointName, answer: unknown) =>
  parseReply(name, {
    ...{ status: 200, text: JSON.stringify(answer), location: undefined, retryAfter: undefined, date: undefined },
  });

const { read, refused } = casesIn("platform/client/http/testdata/forms.yaml") as {
  read: [EndpointName, answer: unknown, expected: object][];
  refused: [EndpointName, answer: unknown, came: string, expected: string][];
};

test.each(read)("%s reads %j", (name, answer, expected) => {
  expect(parsed(name, answer)).toMatchObject({ answer: expected });
});

test.each(refused)("%s does not read %j", (name, answer, came, expected) => {
  const message = `The answer is not as documented: it has ${came}, and ${expected}`;
  expect(parsed(name, answer)).toMatchObject({
    failed: { code: "badAnswer", lasting: true, message: expect.stringMatching(new RegExp(`^${escape(message)}`)) },
  });
});

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

test.each([{ status: "failure", message: "Row r1 not found" }, { body: { status: "failure", message: "not found" } }])(
  "%j is a refusal, and nothing was removed",
  (answer) => {
    expect(parsed("removemicroapprow", answer)).toMatchObject({ failed: { code: "notFound" } });
  },
);

test("a member without a user ID is refused", async () => {
  const server = await serve(({ endpoint }) =>
    endpoint === "teammembers" ? { body: [{ _id: "m1", email: "ada@example.com" }] } : undefined,
  );
  await expect(new MemberLists(server.client(), {}).list("t1")).rejects.toMatchObject({
    platformMessage: "A member of team t1 came without a user ID",
  });
  await server.close();
});
