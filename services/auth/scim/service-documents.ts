import type { ScimAttribute, ScimResourceType, ScimSchema } from './schema.ts';
import { ENTERPRISE_SCHEMA, GROUP_TYPE, USER_TYPE } from './schema.ts';
import { SCIM_PATH } from './user-resource.ts';

export const MAX_RESULTS = 200;

/** What a client may expect of this server: RFC 7643 §5. */
export function serviceProviderConfig() {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_RESULTS },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: false },
    authenticationSchemes: [
      {
        ...{ type: 'oauthbearertoken', name: 'API key', primary: true },
        description: 'An API key of an account that manages the users of the tenant it works in, as a bearer token',
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${SCIM_PATH}/ServiceProviderConfig` },
  };
}

export const RESOURCE_TYPES: readonly ScimResourceType[] = [USER_TYPE, GROUP_TYPE];
export const SCHEMAS: readonly ScimSchema[] = [USER_TYPE.schema, ENTERPRISE_SCHEMA, GROUP_TYPE.schema];

export function presentResourceType({ name, endpoint, description, schema, extensions }: ScimResourceType) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    ...{ id: name, name, endpoint, description, schema: schema.id },
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${SCIM_PATH}/ResourceTypes/${name}` },
  };
}

export function presentSchema({ id, name, description, attributes }: ScimSchema) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    ...{ id, name, description, attributes: attributes.map(presentAttribute) },
    meta: { resourceType: 'Schema', location: `${SCIM_PATH}/Schemas/${id}` },
  };
}

function presentAttribute(attribute: ScimAttribute): Readonly<Record<string, unknown>> {
  const { name, type, description, subAttributes } = attribute;
  return {
    ...{ name, type, description },
    multiValued: attribute.multiValued ?? false,
    required: attribute.required ?? false,
    caseExact: attribute.caseExact ?? false,
    mutability: attribute.mutability ?? 'readWrite',
    returned: attribute.returned ?? 'default',
    uniqueness: attribute.uniqueness ?? 'none',
    ...(subAttributes === undefined ? {} : { subAttributes: subAttributes.map(presentAttribute) }),
  };
}
