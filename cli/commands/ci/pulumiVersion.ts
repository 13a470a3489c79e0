/** The Pulumi CLI that pipelines install, unless `ci` is called with another. */
export const pulumiVersion = "3.260.0";
