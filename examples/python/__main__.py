"""An organization with two teams, three tables of seed rows and a generated app."""

import pulumi
import pulumi_microapps as microapps

acme = microapps.Organization("acme", name="Acme", description="Makes everything.")
crew = microapps.Team("crew", organization_id=acme.id, name="Crew", description="Runs the place.")
support = microapps.Team("support", organization_id=acme.id, name="Support")

microapps.TeamMember("ada", team_id=crew.id, email="ada@example.com", role="admin")
microapps.TeamMember("grace", team_id=crew.id, email="grace@example.com", role="member")
microapps.TeamMember(
    "alan",
    team_id=support.id,
    email="alan@example.com",
    role=microapps.TeamMemberRole.MEMBER,
    target_route=microapps.TeamMemberTargetRoute.APP,
)

currencies = microapps.SeedRows(
    "currencies",
    table="currencies",
    key="Code",
    source="../environment/data/currencies.csv",
    types={"Decimals": "number"},
)
countries = microapps.SeedRows(
    "countries",
    table="countries",
    key="Code",
    source="../environment/data/countries.csv",
    references={"Currency": {"table": currencies.table, "key": "Code"}},
)
offices = microapps.SeedRows(
    "offices",
    table="offices",
    key="Name",
    references={"Country": {"table": countries.table, "key": "Code"}},
    rows=[
        {"Name": "Lisbon", "Country": "PT", "Desks": 12},
        {"Name": "Nairobi", "Country": "KE", "Desks": 20},
        {"Name": "Osaka", "Country": "JP", "Desks": 8},
    ],
)

portal = microapps.GeneratedApp(
    "portal",
    user_email="admin@example.com",
    app_prompt="A portal where the crew finds countries, currencies and offices.",
)
# The ID of the app is safe in the state before anybody waits for it.
microapps.AppReadiness("ready", app_id=portal.app_id)

# What the platform has under the ID, once it is there.
found = microapps.get_team_output(team_id=crew.id)

pulumi.export("organization", acme.id)
pulumi.export("teams", {"crew": crew.id, "support": support.id})
pulumi.export("crewName", found.name)
pulumi.export(
    "rows",
    {"currencies": currencies.row_count, "countries": countries.row_count, "offices": offices.row_count},
)
pulumi.export("app", portal.app_link)
