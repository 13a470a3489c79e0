/**
 * Things a sandbox may offer to facts, by the name that facts use. A fact is not tried in a sandbox that lacks one of
 * its things.
 */
export const fixtures = {
  organization: "ID of an organization that teams may be added to",
  // Tables: empty ones, whose rows come and go. Labels are as named here; sort fields in brackets.
  countries: "ID of a table with Code (1), Name, Population (2), Founded (3), Tags (4) and what is named below",
  currencies: "ID of a table with Code (1) and Digits",
  cities: "ID of a table of rows under those of countries, with Name (1)",
  "countries.Code": "ID of the text field Code",
  "countries.Name": "ID of the text field Name",
  "countries.Population": "ID of the number field Population",
  "countries.Founded": "ID of the date field Founded",
  "countries.Tags": "ID of the checkbox field Tags",
  "countries.Currency": "ID of the field Currency, linked to currencies by Code",
  "countries.Capital": "ID of the location field Capital",
  "countries.Readers": "ID of the viewers field Readers",
  "countries.ReadingTeams": "ID of the team viewers field ReadingTeams",
  "countries.Flag": "ID of the file field Flag",
  // People. `admin` may do everything in the sandbox, `member` and `other` only what they are granted. They belong to
  // the sandbox alone: a fact may take them out of teams.
  "admin.email": "address of who administers the sandbox",
  "admin.userID": "user ID of who administers the sandbox",
  "admin.password": "password of who administers the sandbox",
  "admin.apiKey": "key of the deployment",
  "member.email": "address of a second user",
  "member.userID": "user ID of a second user",
  "member.password": "password of a second user",
  "other.email": "address of a third user",
  "other.userID": "user ID of a third user",
  "other.password": "password of a third user",
  "invitee.email": "address of nobody yet, who may be invited",
  app: "ID of an app whose author is admin, and member is not",
  "file.url": "address of a small text file that the platform may download",
  "file.text": "what that file holds",
  // Permissions for tests that leave something behind, or take long.
  newOrganizations: "organizations may be created, which are deleted again",
  newApps: "apps may be generated, which nothing can delete",
  manyRows: "10,000 rows may be inserted, which are deleted again",
} as const;

export type FixtureName = keyof typeof fixtures;

/** Contents of one sandbox; a permission has any text. */
export type FixtureIDs = Readonly<Partial<Record<FixtureName, string>>>;

/** Callers: the sandbox's people with their sessions; nobody has none. */
export const people = ["admin", "member", "other"] as const;
export type Person = (typeof people)[number];
