import { h, table } from "./elements.js";
import { ask } from "./service.js";

/** Organizations with teams, members and roles; and everyone who has an account. */
export async function organizations(root) {
  async function refresh() {
    const [{ organizations }, { users }] = await Promise.all([ask("organizations"), ask("users")]);
    const member = ({ email, role, userID }) => h("li", { title: userID }, `${email}, ${role}`);
    const team = ({ id, name, description, members }) =>
      h(
        "li",
        {},
        h(
          "details",
          { open: members.length <= 20 },
          h("summary", { title: id }, `${name} (${members.length})`),
          description === null ? undefined : h("p", { class: "quiet" }, description),
          h("ul", {}, members.map(member)),
        ),
      );
    const organization = ({ id, name, description, teams }) => [
      h("h3", { title: id }, name),
      h("p", { class: "quiet" }, [id, description].filter(Boolean).join(": ")),
      h("ul", { class: "tree" }, teams.map(team)),
    ];
    const standing = ({ admin, invited }) => (admin ? "administrator" : invited ? "invited" : "user");
    root.replaceChildren(
      h("h2", {}, "Organizations"),
      ...(organizations.length === 0 ? [h("p", {}, "There are none.")] : organizations.flatMap(organization)),
      h("h3", {}, "Users"),
      table(
        "Everyone with an account",
        ["Address", "ID", "Standing"],
        users.map((user) => [user.email, user.id, standing(user)]),
      ),
    );
  }
  await refresh();
  return { refresh };
}
