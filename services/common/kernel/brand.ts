declare const brand: unique symbol;

/** A string that has passed the check its name stands for; plain strings are not assignable to it. */
export type Brand<Name extends string> = string & { readonly [brand]: Name };

export type TenantId = Brand<'TenantId'>;
export type UserId = Brand<'UserId'>;
export type RoleId = Brand<'RoleId'>;
/** A holder of grants and capabilities. */
export type PrincipalId = UserId | TenantId | RoleId;
export type DatasetId = Brand<'DatasetId'>;
export type DataItemId = Brand<'DataItemId'>;
export type RunId = Brand<'RunId'>;
