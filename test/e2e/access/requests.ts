import { randomUUID } from 'node:crypto';
import type { ApiRequest } from './http.ts';
import type { Identifiers } from './world.ts';

/** Parameters of a route's path, and the rest of the request. */
interface RouteRequest extends Pick<ApiRequest, 'query' | 'json' | 'form' | 'file'> {
  readonly params?: Readonly<Record<string, string>>;
}

const SCIM_USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const SCIM_GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';

function scimPatch(...operations: readonly object[]): object {
  return { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations: operations };
}

/** A request to each route about the things of one tenant, by `METHOD /path/{as_in_the_document}`. */
export const REQUESTS: Readonly<Record<string, (ids: Identifiers) => RouteRequest>> = {
  // Accounts and credentials
  'POST /api/v1/auth/login': ({ ownerEmail }) => ({ form: { username: ownerEmail, password: 'guessed' } }),
  'POST /api/v1/auth/logout': () => ({}),
  'GET /api/v1/auth/me': () => ({}),
  'POST /api/v1/auth/register': ({ ownerEmail }) => ({ json: { email: ownerEmail, password: 'a new password' } }),
  'GET /api/v1/auth/api-keys': () => ({}),
  'POST /api/v1/auth/api-keys': ({ dataset }) => ({ json: { name: 'made by the test', datasets: [dataset] } }),
  'DELETE /api/v1/auth/api-keys/{api_key_id}': ({ apiKey }) => ({ params: { api_key_id: apiKey } }),
  'GET /api/v1/users/me': () => ({}),
  'PATCH /api/v1/users/me': () => ({ json: {} }),
  'GET /api/v1/users': () => ({}),
  'GET /api/v1/users/{user_id}': ({ member }) => ({ params: { user_id: member } }),
  'PATCH /api/v1/users/{user_id}': ({ member }) => ({ params: { user_id: member }, json: { is_superuser: true } }),
  'DELETE /api/v1/users/{user_id}': ({ member }) => ({ params: { user_id: member } }),
  'POST /api/v1/users/get-user-id': ({ ownerEmail }) => ({ json: { email: ownerEmail } }),
  'POST /api/v1/users/invitations': ({ ownerEmail }) => ({ json: { email: ownerEmail } }),
  'POST /api/v1/auth/forgot-password': ({ ownerEmail }) => ({ json: { email: ownerEmail } }),
  'POST /api/v1/auth/reset-password': () => ({ json: { token: 'guessed', password: 'a new password' } }),
  'POST /api/v1/auth/request-verify-token': ({ ownerEmail }) => ({ json: { email: ownerEmail } }),
  'POST /api/v1/auth/verify': () => ({ json: { token: 'guessed' } }),
  'GET /api/v1/auth/oidc': () => ({}),
  'GET /api/v1/auth/oidc/{provider}/login': () => ({ params: { provider: 'missing' } }),
  'GET /api/v1/auth/oidc/{provider}/callback': () => ({ params: { provider: 'missing' }, query: { state: 'guessed' } }),
  'POST /api/v1/auth/oidc/{provider}/logout': () => ({ params: { provider: 'missing' } }),
  'GET /.well-known/jwks.json': () => ({}),
  'GET /.well-known/oauth-authorization-server': () => ({}),
  'POST /api/v1/auth/device/code': () => ({ form: { client_id: 'a program' } }),
  'POST /api/v1/auth/oauth/token': () => ({
    form: {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: 'guessed',
      client_id: 'a program',
    },
  }),
  'GET /api/v1/auth/device': () => ({ query: { user_code: 'BCDF-GHJK' } }),
  'POST /api/v1/auth/device': () => ({ json: { user_code: 'BCDF-GHJK', approve: true } }),

  'POST /api/v1/auth/oauth/register': () => ({ json: { redirect_uris: ['http://127.0.0.1/callback'] } }),
  'GET /api/v1/auth/oauth/authorization': () => ({
    query: { client_id: 'guessed', redirect_uri: 'http://127.0.0.1/' },
  }),
  'POST /api/v1/auth/oauth/authorization': () => ({
    json: {
      client_id: 'guessed',
      redirect_uri: 'http://127.0.0.1/',
      response_type: 'code',
      approve: true,
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
    },
  }),

  // Agents
  'GET /api/v1/agents/list': () => ({}),
  'POST /api/v1/agents/create': () => ({ query: { name: `made by the test ${randomUUID()}` } }),
  'GET /api/v1/agents/{agent_id}': ({ agent }) => ({ params: { agent_id: agent } }),
  'DELETE /api/v1/agents/{agent_id}': ({ agent }) => ({ params: { agent_id: agent } }),
  'POST /api/v1/agents/register': ({ dataset, session }) => ({
    json: { agent_session_name: session, session_id: session, dataset_ids: [dataset] },
  }),
  'POST /api/v1/agents/unregister': ({ session }) => ({ json: { agent_session_name: session } }),
  'GET /api/v1/agents/connections': ({ agent }) => ({ query: { agent_id: agent } }),
  'GET /api/v1/agents/connections/me': ({ session }) => ({ query: { agent_session_name: session } }),
  'GET /api/v1/agents/connections/{agent_id}': ({ owner, session }) => ({
    params: { agent_id: owner },
    query: { agent_session_name: session },
  }),

  // What is stored for accounts, tenants and the server
  'POST /api/v1/configuration/store_user_configuration': () => ({ json: { name: 'made by the test', config: {} } }),
  'GET /api/v1/configuration/get_user_configuration/{config_id}': ({ configuration }) => ({
    params: { config_id: configuration },
  }),
  'GET /api/v1/configuration/get_user_configuration': () => ({}),
  'GET /api/v1/settings': () => ({}),
  'POST /api/v1/settings': () => ({ json: {} }),
  'DELETE /api/v1/settings': () => ({}),
  'POST /api/v1/checks/connection': () => ({}),
  'GET /api/v1/audit': ({ tenant }) => ({ query: { tenant_id: tenant } }),
  'GET /api/v1/audit/export': ({ tenant }) => ({ query: { tenant_id: tenant } }),
  'GET /api/v1/audit/keys': () => ({}),
  'GET /api/v1/budgets/tenants/{tenant_id}': ({ tenant }) => ({ params: { tenant_id: tenant } }),
  'PUT /api/v1/budgets/tenants/{tenant_id}': ({ tenant }) => ({ params: { tenant_id: tenant }, json: { items: null } }),
  'GET /api/v1/budgets/keys/{key_id}': ({ apiKey }) => ({ params: { key_id: apiKey } }),
  'PUT /api/v1/budgets/keys/{key_id}': ({ apiKey }) => ({ params: { key_id: apiKey }, json: { items: null } }),
  'GET /api/v1/activity/usage': () => ({}),
  'GET /': () => ({}),
  'GET /health': () => ({}),
  'GET /health/detailed': () => ({}),

  // A directory of the caller's tenant
  'GET /scim/v2/Users': ({ ownerEmail }) => ({ query: { filter: `userName eq "${ownerEmail}"` } }),
  'POST /scim/v2/Users': ({ ownerEmail }) => ({ json: { schemas: [SCIM_USER], userName: ownerEmail } }),
  'GET /scim/v2/Users/{id}': ({ member }) => ({ params: { id: member } }),
  'PUT /scim/v2/Users/{id}': ({ member }) => ({
    params: { id: member },
    json: { schemas: [SCIM_USER], userName: 'made.by.the.test@example.com' },
  }),
  'PATCH /scim/v2/Users/{id}': ({ member }) => ({
    params: { id: member },
    json: scimPatch({ op: 'replace', path: 'active', value: false }),
  }),
  'DELETE /scim/v2/Users/{id}': ({ member }) => ({ params: { id: member } }),
  'GET /scim/v2/Groups': () => ({}),
  'POST /scim/v2/Groups': ({ member }) => ({
    json: { schemas: [SCIM_GROUP], displayName: `made by the test ${randomUUID()}`, members: [{ value: member }] },
  }),
  'GET /scim/v2/Groups/{id}': ({ role }) => ({ params: { id: role } }),
  'PUT /scim/v2/Groups/{id}': ({ role, member }) => ({
    params: { id: role },
    json: { schemas: [SCIM_GROUP], displayName: 'made', members: [{ value: member }] },
  }),
  'PATCH /scim/v2/Groups/{id}': ({ role, member }) => ({
    params: { id: role },
    json: scimPatch({ op: 'add', path: 'members', value: [{ value: member }] }),
  }),
  'DELETE /scim/v2/Groups/{id}': ({ role }) => ({ params: { id: role } }),
  'GET /scim/v2/ServiceProviderConfig': () => ({}),
  'GET /scim/v2/ResourceTypes': () => ({}),
  'GET /scim/v2/ResourceTypes/{id}': () => ({ params: { id: 'User' } }),
  'GET /scim/v2/Schemas': () => ({}),
  'GET /scim/v2/Schemas/{id}': () => ({ params: { id: SCIM_USER } }),

  // Sessions
  'POST /api/v1/remember/entry': ({ dataset, session }) => ({
    json: {
      entry: { type: 'qa', question: 'Made by the test?', answer: 'Yes.' },
      dataset_id: dataset,
      session_id: session,
    },
  }),
  'GET /api/v1/sessions': () => ({}),
  'GET /api/v1/sessions/with-agent-info': () => ({}),
  'GET /api/v1/sessions/stats': () => ({}),
  'GET /api/v1/sessions/cost-by-model': () => ({}),
  'GET /api/v1/sessions/cost-by-user-agent': () => ({}),
  'GET /api/v1/sessions/{session_id}': ({ session }) => ({ params: { session_id: session } }),

  // Datasets and what is in them
  'POST /api/v1/sync': ({ dataset }) => ({ json: { dataset_ids: [dataset] } }),
  'GET /api/v1/sync/status': () => ({}),
  'GET /api/v1/sync/runs': () => ({}),
  'POST /api/sync/{dataset_id}/diff': ({ dataset }) => ({
    params: { dataset_id: dataset },
    json: { dataset_id: dataset, dataset_name: 'pushed_here', hashes: [] },
  }),
  'GET /api/sync/{dataset_id}/data/{file}': ({ dataset }) => ({
    params: { dataset_id: dataset, file: 'd41d8cd98f00b204e9800998ecf8427e' },
  }),
  'PUT /api/sync/{dataset_id}/data/{file}': ({ dataset, item }) => ({
    params: { dataset_id: dataset, file: item },
    form: { dataset_id: dataset, dataset_name: 'pushed_here', data_id: item, md5: '9dd4e461268c8034f5c8564e155c67a6' },
    file: { field: 'file', name: 'x.txt', text: 'x' },
  }),
  'PUT /api/sync/{dataset_id}': ({ dataset }) => ({
    params: { dataset_id: dataset },
    query: { prune: 'true' },
    json: { items: [] },
  }),
  'POST /api/cognify': ({ dataset }) => ({ json: { dataset_ids: [dataset], run_in_background: true } }),
  'POST /api/v1/add': ({ dataset }) => ({ json: { datasetId: dataset, data: ['A text of the test.'] } }),
  'PATCH /api/v1/update': ({ dataset, item }) => ({
    query: { dataset_id: dataset, data_id: item },
    json: { data: 'Put in its place by the test.' },
  }),
  'POST /api/v1/remember': ({ dataset }) => ({ form: { data: 'A text of the test.', datasetId: dataset } }),
  'POST /api/v1/ontologies': () => ({
    form: { ontology_key: `made-${randomUUID()}` },
    file: { field: 'ontology_file', name: 'made.owl', text: '<http://a.example/Car> a <http://a.example/Class> .' },
  }),
  'GET /api/v1/ontologies': () => ({}),
  'DELETE /api/v1/ontologies/{ontology_key}': ({ ontology }) => ({ params: { ontology_key: ontology } }),
  'POST /api/v1/skills': ({ dataset }) => ({ json: { skills_text: 'Made by the test.', dataset_id: dataset } }),
  'GET /api/v1/skills': ({ dataset }) => ({ query: { dataset_id: dataset } }),
  'GET /api/v1/skills/{skill_id}': ({ dataset, skill }) => ({
    params: { skill_id: skill },
    query: { dataset_id: dataset },
  }),
  'DELETE /api/v1/skills/{skill_id}': ({ dataset, skill }) => ({
    params: { skill_id: skill },
    query: { dataset_id: dataset },
  }),
  'GET /api/v1/proposals': ({ dataset }) => ({ query: { dataset_id: dataset } }),
  'POST /api/v1/proposals/{proposal_id}/apply': ({ dataset, proposal }) => ({
    params: { proposal_id: proposal },
    query: { dataset_id: dataset },
  }),
  'GET /api/v1/proposals/{proposal_id}': ({ dataset, proposal }) => ({
    params: { proposal_id: proposal },
    query: { dataset_id: dataset },
  }),
  'GET /api/v1/validate': ({ datasetName }) => ({ query: { dataset: datasetName } }),
  'POST /api/v1/llm/custom-prompt': () => ({ json: { graphModel: { title: 'Made by the test' } } }),
  'POST /api/v1/llm/infer-schema': () => ({ form: { text: 'Made by the test.' } }),
  'POST /api/v1/forget': ({ dataset, item }) => ({ json: { dataset_id: dataset, data_id: item } }),
  'DELETE /api/v1/delete': ({ dataset, item }) => ({ query: { dataset_id: dataset, data_id: item } }),
  'GET /api/v1/datasets': () => ({}),
  'POST /api/v1/datasets': () => ({ json: { name: 'made_by_the_test' } }),
  'DELETE /api/v1/datasets': () => ({}),
  'GET /api/v1/datasets/status': ({ dataset }) => ({ query: { dataset } }),
  'GET /api/v1/datasets/status/progress': ({ dataset }) => ({ query: { dataset } }),
  'GET /api/v1/datasets/graph-summary': ({ dataset }) => ({ query: { dataset_ids: dataset } }),
  'DELETE /api/v1/datasets/{dataset_id}': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'GET /api/v1/datasets/{dataset_id}/data': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'GET /api/v1/datasets/{dataset_id}/data/count': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'GET /api/v1/datasets/{dataset_id}/data/{data_id}/original': ({ dataset, item }) => ({
    params: { dataset_id: dataset, data_id: item },
  }),
  'GET /api/v1/datasets/{dataset_id}/data/{data_id}/raw': ({ dataset, item }) => ({
    params: { dataset_id: dataset, data_id: item },
  }),
  'POST /api/v1/datasets/{dataset_id}/data/retry': ({ dataset, item }) => ({
    params: { dataset_id: dataset },
    json: { data_ids: [item] },
  }),
  'DELETE /api/v1/datasets/{dataset_id}/data/{data_id}': ({ dataset, item }) => ({
    params: { dataset_id: dataset, data_id: item },
  }),
  'GET /api/v1/datasets/{dataset_id}/graph': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'GET /api/v1/datasets/{dataset_id}/processing-status': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'GET /api/v1/datasets/{dataset_id}/supersessions': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'PUT /api/v1/datasets/embedding/{dataset_id}': ({ dataset }) => ({ params: { dataset_id: dataset }, json: {} }),
  'GET /api/v1/datasets/snapshots': () => ({}),
  'GET /api/v1/datasets/{dataset_id}/snapshots': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'POST /api/v1/datasets/{dataset_id}/snapshots': ({ dataset }) => ({ params: { dataset_id: dataset }, json: {} }),
  'GET /api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}': ({ dataset, snapshot }) => ({
    params: { dataset_id: dataset, snapshot_id: snapshot },
  }),
  'DELETE /api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}': ({ dataset, snapshot }) => ({
    params: { dataset_id: dataset, snapshot_id: snapshot },
  }),
  'GET /api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}/file': ({ dataset, snapshot }) => ({
    params: { dataset_id: dataset, snapshot_id: snapshot },
  }),
  'POST /api/v1/datasets/{dataset_id}/snapshots/{snapshot_id}/restore': ({ dataset, snapshot }) => ({
    params: { dataset_id: dataset, snapshot_id: snapshot },
    json: { name: 'restored_by_the_test' },
  }),
  'POST /api/v1/datasets/restores': () => ({ form: { name: 'restored_by_the_test' } }),
  'GET /api/v1/datasets/restores/{restore_id}': ({ restore }) => ({ params: { restore_id: restore } }),
  'POST /api/v1/datasets/{dataset_id}/supersessions/{supersession_id}/revert': ({ dataset, item }) => ({
    params: { dataset_id: dataset, supersession_id: item },
  }),
  'GET /api/v1/datasets/{dataset_id}/schema': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'PUT /api/v1/datasets/{dataset_id}/schema': ({ dataset }) => ({ params: { dataset_id: dataset }, json: {} }),
  'POST /api/v1/cognify': ({ dataset }) => ({ json: { dataset_ids: [dataset] } }),
  'POST /api/v1/memify': ({ dataset }) => ({
    json: { dataset_id: dataset, enrichment_tasks: ['add_data_points'] },
  }),
  'POST /api/v1/improve': ({ dataset, session }) => ({ json: { dataset_id: dataset, session_ids: [session] } }),

  // Questions
  'POST /api/v1/search': ({ dataset }) => ({ json: { query: 'Who met Ishmael?', dataset_ids: [dataset] } }),
  'GET /api/v1/search': () => ({}),
  'POST /api/v1/recall': ({ dataset, session }) => ({
    json: { query: 'Who met Ishmael?', dataset_ids: [dataset], session_id: session },
  }),
  'GET /api/v1/recall': () => ({}),
  'POST /api/v1/responses': () => ({ json: { input: 'Who met Ishmael?' } }),
  'GET /api/v1/recall/sources': ({ session }) => ({ query: { session_id: session } }),
  'GET /api/v1/visualize': ({ dataset }) => ({ query: { dataset_id: dataset } }),
  'GET /api/v1/visualize/json': ({ dataset }) => ({ query: { dataset_id: dataset } }),
  'GET /api/v1/visualize/live-events': ({ dataset }) => ({ query: { dataset_id: dataset } }),
  'GET /api/v1/visualize/brains': () => ({}),
  'GET /api/v1/visualize/brains-summary': () => ({}),
  'POST /api/v1/visualize/multi': ({ owner, dataset }) => ({ json: [{ user_id: owner, dataset_id: dataset }] }),
  'GET /api/v1/visualize/semantic': ({ dataset }) => ({ query: { dataset_id: dataset } }),
  'GET /api/v1/schema/inventory': ({ dataset }) => ({ query: { dataset_id: dataset } }),
  'GET /api/v1/schema/provenance': () => ({}),
  'GET /api/v1/schema/provenance/json': () => ({}),
  'GET /api/v1/visualize/drawing': ({ dataset }) => ({ query: { dataset_id: dataset } }),

  // Integrations
  'GET /api/v1/slack/channels': () => ({}),
  'PUT /api/v1/slack/channels': () => ({ json: { channelIds: [] } }),
  'POST /api/v1/slack/link': () => ({ json: { code: 'T1:U1:1:00' } }),
  'GET /api/v1/slack/history/{team_id}': () => ({ params: { team_id: 'T0ENGINE' } }),
  'POST /api/v1/slack/history/{team_id}/import': ({ dataset }) => ({
    params: { team_id: 'T0ENGINE' },
    json: { dataset_id: dataset, channel_ids: ['C1'], days: 7 },
  }),
  'PUT /api/v1/slack/history/{team_id}/sync': () => ({ params: { team_id: 'T0ENGINE' }, json: { enabled: false } }),
  'GET /api/v1/integrations/status': () => ({}),
  'GET /api/v1/integrations/connections': () => ({}),
  'POST /api/v1/integrations/plugins/{plugin_key}/provision': () => ({ params: { plugin_key: 'codex' } }),
  'DELETE /api/v1/integrations/plugins/{plugin_key}': () => ({ params: { plugin_key: 'codex' } }),
  'POST /api/v1/integrations/{provider}/authorize': () => ({ params: { provider: 'github' } }),
  'POST /api/v1/integrations/{provider}/connect': () => ({
    params: { provider: 'web' },
    json: { address: 'http://127.0.0.1:9/' },
  }),
  'GET /api/v1/integrations/{provider}/connection': () => ({ params: { provider: 'github' } }),
  'DELETE /api/v1/integrations/{provider}/connection': () => ({ params: { provider: 'github' } }),
  'POST /api/v1/integrations/{provider}/sync': () => ({ params: { provider: 'github' } }),
  'GET /api/v1/integrations/{provider}/resources': () => ({ params: { provider: 'github' } }),
  'PUT /api/v1/integrations/{provider}/resources': () => ({ params: { provider: 'github' }, json: {} }),
  'GET /api/v1/integrations/{provider}/folders': () => ({ params: { provider: 'github' } }),
  'PUT /api/v1/integrations/{provider}/folders': () => ({ params: { provider: 'github' }, json: {} }),
  'GET /api/v1/integrations/{provider}/labels': () => ({ params: { provider: 'github' } }),
  'PUT /api/v1/integrations/{provider}/labels': () => ({ params: { provider: 'github' }, json: {} }),

  // Runs
  'GET /api/v1/activity/pipeline-runs': ({ dataset }) => ({ query: { dataset_id: dataset } }),
  'GET /api/v1/activity/spans': () => ({}),
  'GET /api/v1/activity/agents': () => ({}),
  'GET /api/v1/activity/users': () => ({}),
  'GET /api/v1/activity/export/{dataset_id}': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'GET /api/v1/activity/jobs': () => ({}),
  'GET /api/v1/activity/jobs/{job_id}': ({ run }) => ({ params: { job_id: run } }),
  'POST /api/v1/activity/jobs/{job_id}/replay': ({ run }) => ({ params: { job_id: run } }),
  'DELETE /api/v1/activity/jobs/{job_id}': ({ run }) => ({ params: { job_id: run } }),

  // Tenants, roles, grants, capabilities
  'POST /api/v1/permissions/datasets/{principal_id}': ({ dataset, member }) => ({
    params: { principal_id: member },
    query: { permission_name: 'read' },
    json: [dataset],
  }),
  'DELETE /api/v1/permissions/datasets/{principal_id}': ({ dataset, agent }) => ({
    params: { principal_id: agent },
    query: { permission_name: 'share' },
    json: [dataset],
  }),
  'GET /api/v1/permissions/datasets/{dataset_id}/principals': ({ dataset }) => ({ params: { dataset_id: dataset } }),
  'GET /api/v1/permissions/principals/{principal_id}/datasets': ({ owner }) => ({ params: { principal_id: owner } }),
  'POST /api/v1/permissions/roles': () => ({ query: { role_name: `made by the test ${randomUUID()}` } }),
  'DELETE /api/v1/permissions/roles/{role_id}': ({ role }) => ({ params: { role_id: role } }),
  'POST /api/v1/permissions/users/{user_id}/roles': ({ member, role }) => ({
    params: { user_id: member },
    query: { role_id: role },
  }),
  'DELETE /api/v1/permissions/users/{user_id}/roles': ({ member, role }) => ({
    params: { user_id: member },
    query: { role_id: role },
  }),
  'POST /api/v1/permissions/users/{user_id}/tenants': ({ owner, tenant }) => ({
    params: { user_id: owner },
    query: { tenant_id: tenant },
  }),
  'POST /api/v1/permissions/tenants': () => ({ query: { tenant_name: 'made by the test' } }),
  'POST /api/v1/permissions/tenants/select': ({ tenant }) => ({ json: { tenant_id: tenant } }),
  'GET /api/v1/permissions/tenants/me': () => ({}),
  'DELETE /api/v1/permissions/tenants/{tenant_id}/users/{user_id}': ({ tenant, member }) => ({
    params: { tenant_id: tenant, user_id: member },
  }),
  'GET /api/v1/permissions/tenants/{tenant_id}/roles': ({ tenant }) => ({ params: { tenant_id: tenant } }),
  'GET /api/v1/permissions/tenants/{tenant_id}/roles/{role_id}/users': ({ tenant, role }) => ({
    params: { tenant_id: tenant, role_id: role },
  }),
  'GET /api/v1/permissions/tenants/{tenant_id}/roles/users/{user_id}': ({ tenant, member }) => ({
    params: { tenant_id: tenant, user_id: member },
  }),
  'GET /api/v1/permissions/tenants/{tenant_id}/users': ({ tenant }) => ({ params: { tenant_id: tenant } }),
  'POST /api/v1/permissions/capabilities/{principal_id}': ({ member, tenant }) => ({
    params: { principal_id: member },
    query: { capability: 'manage_users', tenant_id: tenant },
  }),
  'DELETE /api/v1/permissions/capabilities/{principal_id}': ({ member, tenant }) => ({
    params: { principal_id: member },
    query: { capability: 'manage_users', tenant_id: tenant },
  }),
  'GET /api/v1/permissions/tenants/{tenant_id}/capabilities/me': ({ tenant }) => ({ params: { tenant_id: tenant } }),
};

/** The request to a route that the document names `operation`. */
export function requestTo(operation: string, ids: Identifiers): ApiRequest {
  const build = REQUESTS[operation];
  if (build === undefined) throw new Error(`${operation} has no request in requests.ts: say how it is asked`);
  const [method = '', template = ''] = operation.split(' ');
  const { params = {}, ...rest } = build(ids);
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return { method, path, ...rest };
}
