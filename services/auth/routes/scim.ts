import { z } from 'zod';
import { isRecord } from '../../common/kernel/objects.ts';
import { type Reply, routesOf } from '../../common/platform/http/route.ts';
import { inTenant, NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import { lenientInteger } from '../../common/platform/http/schema.ts';
import type { AuthDependencies } from '../model.ts';
import { listResponse, selectAttributes } from '../scim/listing.ts';
import {
  createResource,
  listResources,
  patchResource,
  type ResourceName,
  readOneResource,
  removeResource,
  replaceResource,
} from '../scim/resources.ts';
import {
  GROUP_TYPE,
  MAX_RESULTS,
  presentResourceType,
  presentSchema,
  RESOURCE_TYPES,
  SCHEMAS,
  SCIM_PATH,
  serviceProviderConfig,
  USER_TYPE,
} from '../scim/schema.ts';
import { SCIM_MEDIA_TYPE, type ScimErrorType, scimError, scimErrorBody } from '../scim/scim-error.ts';

const scimId = z.object({ id: z.string() });

const text = z.string().optional();

/** Comma-separated names. */
const names = z
  .string()
  .default('')
  .transform((list) => list.split(',').filter((name) => name.trim() !== ''));

const scimSelection = z.object({ attributes: names, excludedAttributes: names });

const scimListQuery = scimSelection.extend({
  filter: text.describe('For example `userName eq "ada@example.com"`'),
  startIndex: lenientInteger().default(1),
  count: lenientInteger().default(100),
  sortBy: text,
  sortOrder: z.enum(['ascending', 'descending']).default('ascending'),
});

/**
 * Names of attributes are case-insensitive and their values lenient, so they are read by the SCIM schemas and not by this
 * one.
 */
const scimBody = z.record(z.string(), z.unknown()).meta({
  description: 'A resource, or a PatchOp message (RFC 7644 §3.5.2)',
  examples: [{ schemas: [USER_TYPE.schema.id], userName: 'ada@example.com', active: true }],
});

const scimResource = z.record(z.string(), z.unknown()).meta({
  examples: [
    {
      schemas: [USER_TYPE.schema.id],
      id: '5f88722c-101b-4e65-8dd9-b41b679c0235',
      userName: 'ada@example.com',
      active: true,
    },
  ],
});
const scimListResponse = z.object({
  schemas: z.array(z.string()),
  totalResults: z.int(),
  startIndex: z.int(),
  itemsPerPage: z.int(),
  Resources: z.array(scimResource),
});

const scimErrorAnswer = z
  .object({
    schemas: z.array(z.string()).meta({ examples: [['urn:ietf:params:scim:api:messages:2.0:Error']] }),
    status: z.string().meta({ examples: ['404'] }),
    scimType: z
      .string()
      .optional()
      .meta({ examples: ['uniqueness'] }),
    detail: z.string(),
  })
  .meta({ id: 'ScimError' });

/** Texts of the API description for the routes of a kind of resource. */
interface ResourceTexts {
  readonly name: ResourceName;
  readonly endpoint: string;
  readonly summaries: Readonly<Record<'list' | 'create' | 'read' | 'replace' | 'patch' | 'remove', string>>;
  readonly resource: string;
  readonly denied: string;
  readonly taken: string;
}

const PEOPLE: ResourceTexts = {
  name: 'User',
  endpoint: USER_TYPE.endpoint,
  summaries: {
    list: 'People of the current tenant, as its directory sees them',
    create: 'Provision a person: an account of the directory, or a link to a member',
    read: 'A person of the current tenant',
    replace: 'Replace the attributes of a person',
    patch: 'Change attributes of a person; `active: false` ends access at once',
    remove: 'Remove a person from the tenant; an account of the directory alone is deleted',
  },
  resource: 'The person',
  denied: 'May not manage the users of the tenant, or the directory may not make this change',
  taken: 'uniqueness: the userName or the address is in use',
};

const ROLES: ResourceTexts = {
  name: 'Group',
  endpoint: GROUP_TYPE.endpoint,
  summaries: {
    list: 'Roles of the current tenant, as its directory sees them',
    create: 'Create a role with its members',
    read: 'A role of the current tenant',
    replace: 'Replace name and members of a role; without members these stay',
    patch: 'Rename a role, add members to it or remove some',
    remove: 'Remove a role with its grants',
  },
  resource: 'The group',
  denied: 'May not manage the users of the tenant, or the role is `admin`',
  taken: 'uniqueness: the displayName is in use',
};

const headers = { 'content-type': SCIM_MEDIA_TYPE };

const { routes, get, post, put, patch, remove } = routesOf<AuthDependencies>({
  tag: 'scim',
  auth: 'strict',
  permission: inTenant('manage_users', 'in the current tenant'),
  mediaType: SCIM_MEDIA_TYPE,
  presentError,
  errorSchema: scimErrorAnswer,
});

function resourceRoutes(texts: ResourceTexts) {
  const { name, summaries } = texts;
  const path = `${SCIM_PATH}${texts.endpoint}`;
  const onePath = `${path}/:id`;
  const body = { kind: 'json', schema: scimBody } as const;
  const query = scimSelection;
  const found = { 200: { description: texts.resource, schema: scimResource } } as const;
  const denied = { 403: { description: texts.denied } };
  const unknown = { 404: { description: 'Not in the directory of the tenant' } };
  const taken = { 409: { description: texts.taken } };
  return [
    get(path, `listScim${name}s`, {
      summary: summaries.list,
      query: scimListQuery,
      responses: { 200: { description: 'A page of them', schema: scimListResponse }, ...denied },
      async handle({ principal, query }, deps) {
        const count = Math.min(Math.max(0, query.count), MAX_RESULTS);
        return scimReply(await listResources(deps, { principal, name }, { ...query, count }));
      },
    }),
    post(path, `createScim${name}`, {
      summary: summaries.create,
      body,
      query,
      responses: { 201: { description: texts.resource, schema: scimResource }, ...denied, ...taken },
      async handle({ principal, body, query }, deps) {
        const resource = await createResource(deps, { principal, name }, body);
        const location = `${path}/${String(resource['id'])}`;
        return scimReply(selectAttributes(resource, query), 201, { location });
      },
    }),
    get(onePath, `getScim${name}`, {
      summary: summaries.read,
      params: scimId,
      query,
      responses: { ...found, ...denied, ...unknown },
      handle: async ({ principal, params, query }, deps) =>
        scimReply(selectAttributes(await readOneResource(deps, { principal, name }, params.id), query)),
    }),
    put(onePath, `replaceScim${name}`, {
      summary: summaries.replace,
      params: scimId,
      body,
      query,
      responses: { ...found, ...denied, ...unknown, ...taken },
      async handle({ principal, params, body, query }, deps) {
        const resource = await replaceResource(deps, { principal, name }, { id: params.id, body });
        return scimReply(selectAttributes(resource, query));
      },
    }),
    patch(onePath, `patchScim${name}`, {
      summary: summaries.patch,
      params: scimId,
      body,
      query,
      responses: { ...found, ...denied, ...unknown, ...taken },
      async handle({ principal, params, body, query }, deps) {
        const resource = await patchResource(deps, { principal, name }, { id: params.id, body });
        return scimReply(selectAttributes(resource, query));
      },
    }),
    remove(onePath, `removeScim${name}`, {
      summary: summaries.remove,
      params: scimId,
      responses: { 204: { description: 'Removed' }, ...denied, ...unknown },
      async handle({ principal, params }, deps) {
        await removeResource(deps, { principal, name }, params.id);
        return { status: 204 };
      },
    }),
  ];
}

/** Public documents about the features of the server. */
const PUBLIC = { auth: 'none', permission: NO_PERMISSION } as const;

function collection(name: string, what: string, documents: ReadonlyMap<string, object>) {
  const all = [...documents.values()] as readonly Readonly<Record<string, never>>[];
  return [
    get(`${SCIM_PATH}/${name}`, `listScim${name}`, {
      ...PUBLIC,
      summary: `The ${what}`,
      responses: { 200: { description: 'All of them', schema: scimListResponse } },
      handle: async () => scimReply(listResponse({ total: all.length, startIndex: 1 }, all)),
    }),
    get(`${SCIM_PATH}/${name}/:id`, `getScim${name.slice(0, -1)}`, {
      ...PUBLIC,
      summary: `One of the ${what}`,
      params: scimId,
      responses: { 200: { description: 'It', schema: scimResource }, 404: { description: 'There is none' } },
      async handle({ params }) {
        const found = documents.get(params.id.toLowerCase());
        if (found === undefined) throw scimError(404, `There is no ${params.id.slice(0, 100)}.`);
        return scimReply(found);
      },
    }),
  ];
}

/** SCIM 2.0 (RFC 7643, RFC 7644): a company's directory keeps the people and roles of its tenant. */
export const scimRoutes = routes(
  ...resourceRoutes(PEOPLE),
  ...resourceRoutes(ROLES),
  get(`${SCIM_PATH}/ServiceProviderConfig`, 'getScimFeatures', {
    ...PUBLIC,
    summary: 'What this SCIM server can do',
    responses: { 200: { description: 'RFC 7643 §5', schema: scimResource } },
    handle: async () => scimReply(serviceProviderConfig()),
  }),
  ...collection(
    'ResourceTypes',
    'kinds of resources',
    new Map(RESOURCE_TYPES.map((type) => [type.name.toLowerCase(), presentResourceType(type)])),
  ),
  ...collection(
    'Schemas',
    'schemas of resources',
    new Map(SCHEMAS.map((schema) => [schema.id.toLowerCase(), presentSchema(schema)])),
  ),
);

function scimReply(body: unknown, status = 200, more: Readonly<Record<string, string>> = {}): Reply {
  return { status, json: body, headers: { ...headers, ...more } };
}

/** Formats errors of the shared layers as RFC 7644 §3.12 has them; SCIM errors are returned unchanged. */
function presentError(reply: Reply): Reply {
  const status = reply.status ?? 500;
  const body = isRecord(reply.json) ? reply.json : {};
  const json = Array.isArray(body['schemas']) ? body : scimErrorBody(status, detailOf(body), typeOf(status, body));
  return { ...reply, json, headers: { ...reply.headers, ...headers } };
}

function detailOf({ detail, error }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(detail)) return detail.map(faultText).join('; ');
  const text = typeof detail === 'string' ? detail : typeof error === 'string' ? error : 'Internal server error';
  return text.replace(/ \[\w+\]$/, '');
}

function faultText(fault: unknown): string {
  if (!isRecord(fault)) return 'invalid';
  const place = Array.isArray(fault['loc']) ? fault['loc'].join('.') : 'request';
  return `${place}: ${String(fault['msg'])}`;
}

function typeOf(status: number, { detail }: Readonly<Record<string, unknown>>): ScimErrorType | undefined {
  if (status === 409) return 'uniqueness';
  if (status !== 400) return undefined;
  const isSyntax = Array.isArray(detail) && detail.some((fault) => isRecord(fault) && fault['type'] === 'json_invalid');
  return isSyntax ? 'invalidSyntax' : 'invalidValue';
}
