/** Base path of the SCIM routes. */
export const SCIM_PATH = '/scim/v2';

/**
 * An attribute of a resource (RFC 7643 §2 and §7). Defaults: single-valued, readable and writable, case-insensitive, any
 * value.
 */
export interface ScimAttribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'complex' | 'reference';
  readonly description: string;
  readonly multiValued?: true;
  readonly required?: true;
  readonly caseExact?: true;
  readonly mutability?: 'readOnly' | 'writeOnly' | 'immutable';
  readonly returned?: 'always' | 'never';
  readonly uniqueness?: 'server';
  readonly subAttributes?: readonly ScimAttribute[];
}

interface ScimSchema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly ScimAttribute[];
}

/** A kind of resource: its schema, and extensions whose attributes are nested under their id. */
export interface ScimResourceType {
  readonly name: 'User' | 'Group';
  /** Relative to the base path. */
  readonly endpoint: '/Users' | '/Groups';
  readonly description: string;
  readonly schema: ScimSchema;
  readonly extensions: readonly ScimSchema[];
}

const text = (name: string, description: string): ScimAttribute => ({ name, type: 'string', description });

/** Values with a type each, one of which may be the primary. */
const typedValues = (name: string, description: string): ScimAttribute => ({
  name,
  type: 'complex',
  multiValued: true,
  description,
  subAttributes: [
    text('value', 'The value.'),
    text('display', 'How to show it.'),
    text('type', 'For example work or home.'),
    { name: 'primary', type: 'boolean', description: 'The one to prefer; at most one.' },
  ],
});

const externalId: ScimAttribute = {
  name: 'externalId',
  type: 'string',
  caseExact: true,
  description: 'Id in the directory.',
};

const USER_SCHEMA: ScimSchema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:User',
  name: 'User',
  description: 'A person of the tenant',
  attributes: [
    {
      name: 'userName',
      type: 'string',
      required: true,
      uniqueness: 'server',
      description: 'What the directory calls the person; an e-mail address unless emails has one.',
    },
    externalId,
    {
      name: 'name',
      type: 'complex',
      description: 'The parts of the name.',
      subAttributes: ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'].map(
        (name) => text(name, 'Part of the name.'),
      ),
    },
    text('displayName', 'The name to show.'),
    text('nickName', 'What friends call the person.'),
    text('title', 'For example Vice President.'),
    text('userType', 'For example Contractor.'),
    text('preferredLanguage', 'For example en-GB.'),
    text('locale', 'For example en-GB.'),
    text('timezone', 'For example Europe/Oslo.'),
    { name: 'active', type: 'boolean', description: 'Whether the person may use the service.' },
    typedValues('emails', 'The primary one, else the first, is the address of the account.'),
    typedValues('phoneNumbers', 'Telephone numbers.'),
    {
      name: 'password',
      type: 'string',
      mutability: 'writeOnly',
      returned: 'never',
      description: 'Ignored: provisioned accounts sign in at the directory.',
    },
    {
      name: 'groups',
      type: 'complex',
      multiValued: true,
      mutability: 'readOnly',
      description: 'The groups the person is in.',
      subAttributes: [text('value', 'Id of the group.'), text('display', 'Its name.'), text('$ref', 'Its address.')],
    },
  ],
};

export const ENTERPRISE_SCHEMA: ScimSchema = {
  id: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  name: 'EnterpriseUser',
  description: 'A person in a company',
  attributes: [
    ...['employeeNumber', 'costCenter', 'organization', 'division', 'department'].map((name) =>
      text(name, 'Where the person stands in the company.'),
    ),
    {
      name: 'manager',
      type: 'complex',
      description: 'The manager of the person.',
      subAttributes: [text('value', 'Id.'), text('displayName', 'Name.'), text('$ref', 'Address.')],
    },
  ],
};

const GROUP_SCHEMA: ScimSchema = {
  id: 'urn:ietf:params:scim:schemas:core:2.0:Group',
  name: 'Group',
  description: 'A role of the tenant',
  attributes: [
    {
      name: 'displayName',
      type: 'string',
      required: true,
      uniqueness: 'server',
      description: 'The name of the role.',
    },
    externalId,
    {
      name: 'members',
      type: 'complex',
      multiValued: true,
      description: 'The people who have the role.',
      subAttributes: [
        text('value', 'Id of the user.'),
        text('display', 'The address of the user.'),
        text('type', 'User.'),
        text('$ref', 'The address of the resource.'),
      ],
    },
  ],
};

export const USER_TYPE: ScimResourceType = {
  name: 'User',
  endpoint: '/Users',
  description: 'People of the tenant',
  schema: USER_SCHEMA,
  extensions: [ENTERPRISE_SCHEMA],
};

export const GROUP_TYPE: ScimResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  description: 'Roles of the tenant',
  schema: GROUP_SCHEMA,
  extensions: [],
};

/** Names are case-insensitive (RFC 7643 §2.1). */
export function findAttribute(attributes: readonly ScimAttribute[], name: string): ScimAttribute | undefined {
  const wanted = name.toLowerCase();
  return attributes.find((attribute) => attribute.name.toLowerCase() === wanted);
}

/** The extension with the id, or whose id the text starts with, followed by a colon. */
export function findExtension(type: ScimResourceType, text: string): ScimSchema | undefined {
  const wanted = `${text.toLowerCase()}:`;
  return type.extensions.find(({ id }) => wanted.startsWith(`${id.toLowerCase()}:`));
}

export const MAX_RESULTS = 200;

/** The features of this server (RFC 7643 §5). */
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
        type: 'oauthbearertoken',
        name: 'API key',
        primary: true,
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
    id: name,
    name,
    endpoint,
    description,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: 'ResourceType', location: `${SCIM_PATH}/ResourceTypes/${name}` },
  };
}

export function presentSchema({ id, name, description, attributes }: ScimSchema) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes: attributes.map(presentAttribute),
    meta: { resourceType: 'Schema', location: `${SCIM_PATH}/Schemas/${id}` },
  };
}

function presentAttribute(attribute: ScimAttribute): Readonly<Record<string, unknown>> {
  const { name, type, description, subAttributes } = attribute;
  return {
    name,
    type,
    description,
    multiValued: attribute.multiValued ?? false,
    required: attribute.required ?? false,
    caseExact: attribute.caseExact ?? false,
    mutability: attribute.mutability ?? 'readWrite',
    returned: attribute.returned ?? 'default',
    uniqueness: attribute.uniqueness ?? 'none',
    ...(subAttributes === undefined ? {} : { subAttributes: subAttributes.map(presentAttribute) }),
  };
}
