import { defineRoute, type Route } from '../../common/platform/http/route.ts';
import { NO_PERMISSION } from '../../common/platform/http/route-permission.ts';
import type { AuthDependencies } from '../dependencies.ts';
import { listResponse } from '../scim/list-response.ts';
import { scimError } from '../scim/scim-error.ts';
import {
  presentResourceType,
  presentSchema,
  RESOURCE_TYPES,
  SCHEMAS,
  serviceProviderConfig,
} from '../scim/service-documents.ts';
import { SCIM_PATH } from '../scim/user-resource.ts';
import { scimId, scimListResponse, scimResource } from './scim.schema.ts';
import { scimGroupRoutes } from './scim-groups.ts';
import { OF_DIRECTORY, scimReply } from './scim-reply.ts';
import { scimUserRoutes } from './scim-users.ts';

/** SCIM 2.0 (RFC 7643, RFC 7644): a company's directory keeps the people and roles of its tenant. */
export function scimRoutes(deps: AuthDependencies): readonly Route[] {
  return [...scimUserRoutes(deps), ...scimGroupRoutes(deps), ...documents()];
}

/** What the server can do: the same for everybody. */
const PUBLIC = { ...OF_DIRECTORY, method: 'GET', auth: 'none', permission: NO_PERMISSION } as const;

function documents(): readonly Route[] {
  const types = RESOURCE_TYPES.map((type) => ({ id: type.name, document: presentResourceType(type) }));
  const schemas = SCHEMAS.map((schema) => ({ id: schema.id, document: presentSchema(schema) }));
  return [
    defineRoute({
      ...PUBLIC,
      path: `${SCIM_PATH}/ServiceProviderConfig`,
      summary: 'What this SCIM server can do',
      responses: { 200: { description: 'RFC 7643 §5', schema: scimResource } },
      handle: async () => scimReply(serviceProviderConfig()),
    }),
    ...collection('ResourceTypes', 'kinds of resources', types),
    ...collection('Schemas', 'schemas of resources', schemas),
  ];
}

interface Document {
  readonly id: string;
  readonly document: object;
}

function collection(name: string, what: string, documents: readonly Document[]): readonly Route[] {
  const all = documents.map(({ document }) => document as Readonly<Record<string, never>>);
  return [
    defineRoute({
      ...PUBLIC,
      path: `${SCIM_PATH}/${name}`,
      summary: `The ${what}`,
      responses: { 200: { description: 'All of them', schema: scimListResponse } },
      handle: async () => scimReply(listResponse({ total: all.length, startIndex: 1 }, all)),
    }),
    defineRoute({
      ...PUBLIC,
      path: `${SCIM_PATH}/${name}/:id`,
      summary: `One of the ${what}`,
      params: scimId,
      responses: { 200: { description: 'It', schema: scimResource }, 404: { description: 'There is none' } },
      async handle({ params }) {
        const found = documents.find(({ id }) => id.toLowerCase() === params.id.toLowerCase());
        if (found === undefined) throw scimError(404, `There is no ${params.id.slice(0, 100)}.`);
        return scimReply(found.document);
      },
    }),
  ];
}
