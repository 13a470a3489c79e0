// An organization with two teams, three tables of seed rows and a generated app.
package main

import (
	"example.com/pulumi-microapps/sdk/go/microapps"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() { pulumi.Run(environment) }

func environment(ctx *pulumi.Context) error {
	if err := people(ctx); err != nil {
		return err
	}
	if err := seeds(ctx); err != nil {
		return err
	}
	return apps(ctx)
}

func people(ctx *pulumi.Context) error {
	acme, err := microapps.NewOrganization(ctx, "acme", &microapps.OrganizationArgs{
		Name:        pulumi.String("Acme"),
		Description: pulumi.String("Makes everything."),
	})
	if err != nil {
		return err
	}
	crew, err := microapps.NewTeam(ctx, "crew", &microapps.TeamArgs{
		OrganizationID: acme.ID(),
		Name:           pulumi.String("Crew"),
		Description:    pulumi.String("Runs the place."),
	})
	if err != nil {
		return err
	}
	support, err := microapps.NewTeam(ctx, "support", &microapps.TeamArgs{
		OrganizationID: acme.ID(),
		Name:           pulumi.String("Support"),
	})
	if err != nil {
		return err
	}
	members := map[string]*microapps.TeamMemberArgs{
		"ada": {
			TeamID: crew.ID(),
			Email:  pulumi.String("ada@example.com"),
			Role:   microapps.TeamMemberRoleAdmin,
		},
		"grace": {
			TeamID: crew.ID(),
			Email:  pulumi.String("grace@example.com"),
			Role:   microapps.TeamMemberRoleMember,
		},
		"alan": {
			TeamID:      support.ID(),
			Email:       pulumi.String("alan@example.com"),
			Role:        microapps.TeamMemberRoleMember,
			TargetRoute: microapps.TeamMemberTargetRouteApp,
		},
	}
	for name, args := range members {
		if _, err := microapps.NewTeamMember(ctx, name, args); err != nil {
			return err
		}
	}
	ctx.Export("organization", acme.ID())
	ctx.Export("teams", pulumi.Map{"crew": crew.ID(), "support": support.ID()})
	return nil
}

func seeds(ctx *pulumi.Context) error {
	currencies, err := microapps.NewSeedRows(ctx, "currencies", &microapps.SeedRowsArgs{
		Table:  pulumi.String("currencies"),
		Key:    pulumi.String("Code"),
		Source: pulumi.String("../environment/data/currencies.csv"),
		Types:  microapps.SeedRowsTypesMap{"Decimals": microapps.SeedRowsTypesNumber},
	})
	if err != nil {
		return err
	}
	countries, err := microapps.NewSeedRows(ctx, "countries", &microapps.SeedRowsArgs{
		Table:  pulumi.String("countries"),
		Key:    pulumi.String("Code"),
		Source: pulumi.String("../environment/data/countries.csv"),
		References: microapps.SeedRowsReferencesMap{
			"Currency": microapps.SeedRowsReferencesArgs{Table: currencies.Table, Key: pulumi.String("Code")},
		},
	})
	if err != nil {
		return err
	}
	offices, err := microapps.NewSeedRows(ctx, "offices", &microapps.SeedRowsArgs{
		Table: pulumi.String("offices"),
		Key:   pulumi.String("Name"),
		References: microapps.SeedRowsReferencesMap{
			"Country": microapps.SeedRowsReferencesArgs{Table: countries.Table, Key: pulumi.String("Code")},
		},
		Rows: pulumi.MapArray{
			pulumi.Map{"Name": pulumi.String("Lisbon"), "Country": pulumi.String("PT"), "Desks": pulumi.Int(12)},
			pulumi.Map{"Name": pulumi.String("Nairobi"), "Country": pulumi.String("KE"), "Desks": pulumi.Int(20)},
			pulumi.Map{"Name": pulumi.String("Osaka"), "Country": pulumi.String("JP"), "Desks": pulumi.Int(8)},
		},
	})
	if err != nil {
		return err
	}
	ctx.Export("rows", pulumi.Map{
		"currencies": currencies.RowCount,
		"countries":  countries.RowCount,
		"offices":    offices.RowCount,
	})
	return nil
}

func apps(ctx *pulumi.Context) error {
	portal, err := microapps.NewGeneratedApp(ctx, "portal", &microapps.GeneratedAppArgs{
		UserEmail: pulumi.String("admin@example.com"),
		AppPrompt: pulumi.String("A portal where the crew finds countries, currencies and offices."),
	})
	if err != nil {
		return err
	}
	// The ID of the app is safe in the state before anybody waits for it.
	if _, err := microapps.NewAppReadiness(ctx, "ready", &microapps.AppReadinessArgs{AppID: portal.AppID}); err != nil {
		return err
	}
	ctx.Export("app", portal.AppLink)
	return nil
}
