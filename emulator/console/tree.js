import { count } from "./format.js";
import { html, nothing } from "./lit-html/lit-html.js";
import { link, model } from "./model.js";

// The contents of the platform as a tree: tables with their sub-tables, organizations with teams and members.

const longest = 100;
const toggled = new Map();
let wanted = "";

const matches = ({ words }) => words.some((word) => word.toLowerCase().includes(wanted));

function tableNode(table, level = 0) {
  const below = level > 9 ? [] : model.tables.filter(({ parent }) => parent === table.id);
  return {
    key: `table ${table.id}`,
    label: table.name,
    href: link("tables", table.id),
    count: table.rows ?? undefined,
    words: [table.name, table.id],
    open: true,
    nodes: below.map((child) => tableNode(child, level + 1)),
  };
}

const memberNode = (team) => (member) => ({
  key: `member ${team.id} ${member.userID}`,
  label: member.email,
  href: link("users", member.userID),
  note: member.role === "admin" ? "admin" : "",
  words: [member.email, member.userID],
  nodes: [],
});

const teamNode = (organization) => (team) => ({
  key: `team ${team.id}`,
  label: team.name,
  href: link("organizations", organization.id, team.id),
  count: team.members.length,
  words: [team.name, team.id],
  nodes: team.members.map(memberNode(team)),
});

const organizationNode = (organization) => ({
  key: `organization ${organization.id}`,
  label: organization.name,
  href: link("organizations", organization.id),
  count: organization.teams.length,
  words: [organization.name, organization.id],
  open: model.organizations.length === 1,
  nodes: organization.teams.map(teamNode(organization)),
});

function roots() {
  const tables = model.tables.filter(({ parent }) => !model.tables.some(({ id }) => id === parent));
  const group = (label, nodes) => ({ key: `group ${label}`, label, nodes, words: [], open: true, group: true });
  return [
    group(
      "Tables",
      tables.map((table) => tableNode(table)),
    ),
    group("Organizations", model.organizations.map(organizationNode)),
  ];
}

/** The part of a tree that has what is looked for: matches with all below them, and the way to them. */
function found(node) {
  if (wanted === "" || matches(node)) return node;
  const nodes = node.nodes.map(found).filter(Boolean);
  return nodes.length === 0 ? undefined : { ...node, nodes, forced: true };
}

/** What is where the console is, and everything above it, is open. */
const leadsTo = (node, hash) => node.nodes.some((child) => child.href === hash || leadsTo(child, hash));

const isOpen = (node, hash) =>
  toggled.get(node.key) ?? (node.forced === true || node.open === true || leadsTo(node, hash));

function branch(node, hash, redraw) {
  const open = isOpen(node, hash);
  const toggle = () => {
    toggled.set(node.key, !open);
    redraw();
  };
  const children = node.nodes.slice(0, longest);
  const rest = node.nodes.length - children.length;
  return html`<li>
    <div class=${node.group ? "node group" : "node"}>
      ${
        node.nodes.length === 0
          ? html`<span class="twist"></span>`
          : html`<button
              type="button"
              class="twist"
              aria-expanded=${open ? "true" : "false"}
              aria-label="Contents of ${node.label}"
              @click=${toggle}
            ></button>`
      }
      ${
        node.href === undefined
          ? html`<span class="label">${node.label}</span>`
          : html`<a
              class="label"
              href=${node.href}
              title=${node.label}
              aria-current=${node.href === hash ? "page" : nothing}
              >${node.label}</a
            >`
      }
      ${node.count === undefined ? nothing : html`<span class="count">${count(node.count)}</span>`}
      ${node.note ? html`<span class="count">${node.note}</span>` : nothing}
    </div>
    ${
      open && node.nodes.length > 0
        ? html`<ul>
            ${children.map((child) => branch(child, hash, redraw))}
            ${rest > 0 ? html`<li class="more">and ${count(rest)} more: search for them</li>` : nothing}
          </ul>`
        : nothing
    }
  </li>`;
}

/** Up and down go from link to link; right opens what is below one, left closes it. */
function onKey(event) {
  const { key, target, currentTarget } = event;
  if (!key.startsWith("Arrow")) return;
  const stops = [...currentTarget.querySelectorAll("input, a")];
  const position = stops.indexOf(target);
  if (position < 0) return;
  if (key === "ArrowDown" || key === "ArrowUp") {
    stops[position + (key === "ArrowDown" ? 1 : -1)]?.focus();
    event.preventDefault();
    return;
  }
  const twist = target.parentElement.querySelector("button.twist");
  if (twist && target.tagName === "A" && (twist.ariaExpanded === "true") === (key === "ArrowLeft")) twist.click();
}

export function tree(hash, redraw) {
  const search = ({ target }) => {
    wanted = target.value.trim().toLowerCase();
    toggled.clear();
    redraw();
  };
  const open = ({ key, currentTarget }) => {
    if (key === "Enter" && wanted !== "") currentTarget.closest("nav").querySelector("a")?.click();
  };
  const shown = roots()
    .map(found)
    .filter((node) => node !== undefined && node.nodes.length > 0);
  const people = wanted === "" ? [] : model.users.filter(({ email, id }) => matches({ words: [email, id] }));
  const users = people
    .slice(0, longest)
    .map(({ id, email }) => ({ key: `user ${id}`, label: email, href: link("users", id), nodes: [] }));
  const groups =
    users.length === 0
      ? shown
      : [...shown, { key: "group Users", label: "Users", nodes: users, open: true, group: true }];
  return html`
    <nav class="tree" aria-label="Contents" @keydown=${onKey}>
      <label class="unseen" for="search">Search tables, teams and people</label>
      <input
        id="search"
        type="search"
        placeholder="Search tables, teams, people"
        autocomplete="off"
        aria-keyshortcuts="/"
        @input=${search}
        @keydown=${open}
      />
      <ul>
        ${groups.map((node) => branch(node, hash, redraw))}
      </ul>
      ${groups.length === 0 ? html`<p class="quiet">${wanted === "" ? "The platform is empty." : "Nothing is found."}</p>` : nothing}
    </nav>
  `;
}
