import { randomUUID } from 'node:crypto';
import { type StartedApp, startApp } from '../../support/start-app.ts';
import { until } from '../../support/until.ts';
import { type Caller, createCaller } from './http.ts';

/** Identifiers of everything in a tenant. Two tenants have the same content, so that none differs by accident. */
export interface Identifiers {
  readonly tenant: string;
  readonly owner: string;
  readonly ownerEmail: string;
  readonly member: string;
  readonly role: string;
  readonly dataset: string;
  readonly datasetName: string;
  readonly item: string;
  readonly run: string;
  readonly apiKey: string;
  readonly agent: string;
  readonly connection: string;
  readonly configuration: string;
  readonly session: string;
  readonly ontology: string;
  readonly skill: string;
  readonly proposal: string;
  readonly snapshot: string;
  readonly restore: string;
}

/** A tenant with an owner, who created everything in it, and a member, who may read its dataset. */
export interface TenantWorld {
  readonly ids: Identifiers;
  readonly owner: Caller;
  readonly reader: Caller;
  /** Part of every text, name and value of the tenant that a stranger must not see. */
  readonly secret: string;
}

export interface AccessWorld {
  readonly app: StartedApp;
  readonly acme: TenantWorld;
  readonly globex: TenantWorld;
  /** An account in no tenant. */
  readonly stranger: Caller;
  readonly nobody: Caller;
  readonly superuser: Caller;
  /** Everything that was logged. */
  log(): string;
  stop(): Promise<void>;
}

const SUPERUSER = { email: 'default_user@example.com', password: 'a password of tests' };
const PASSWORD = 'another password of tests';

export async function startAccessWorld(): Promise<AccessWorld> {
  const log: string[] = [];
  const app = await startApp(
    { REQUIRE_AUTHENTICATION: 'true', DEFAULT_USER_PASSWORD: SUPERUSER.password, MAX_USER_API_KEYS: '50' },
    { log },
  );
  const nobody = createCaller(app.baseUrl, 'nobody');
  const superuser = await logIn(app.baseUrl, 'superuser', SUPERUSER.email, SUPERUSER.password);
  const people = await register(app.baseUrl, 'stranger');
  return {
    app,
    nobody,
    superuser,
    stranger: people.caller,
    acme: await makeTenant(app.baseUrl, 'quokkazanzibar'),
    globex: await makeTenant(app.baseUrl, 'numbatpatagonia'),
    log: () => log.join(''),
    stop: () => app.stop(),
  };
}

async function makeTenant(baseUrl: string, secret: string): Promise<TenantWorld> {
  const { caller: owner, id: ownerId, email: ownerEmail } = await register(baseUrl, `${secret}-owner`);
  const { caller: reader, id: member } = await register(baseUrl, `${secret}-reader`);
  const api = '/api/v1';
  const { tenant_id: tenant } = await owner.need<{ tenant_id: string }>({
    method: 'POST',
    path: `${api}/permissions/tenants`,
    query: { tenant_name: `${secret} inc` },
  });
  await owner.need({
    method: 'POST',
    path: `${api}/permissions/users/${member}/tenants`,
    query: { tenant_id: tenant },
  });
  await reader.need({ method: 'POST', path: `${api}/permissions/tenants/select`, json: { tenant_id: tenant } });
  const { role_id: role } = await owner.need<{ role_id: string }>({
    method: 'POST',
    path: `${api}/permissions/roles`,
    query: { role_name: `${secret} readers` },
  });
  const datasetName = `${secret}_notes`;
  const text = `Captain ${secret} met Ishmael ${secret} in Nantucket. ${secret} wrote to Starbuck about the white whale.`;
  await owner.need({ method: 'POST', path: `${api}/add`, json: { datasetName, data: [text] } });
  const cognified = await owner.need<Record<string, { dataset_id: string; pipeline_run_id: string }>>({
    method: 'POST',
    path: `${api}/cognify`,
    json: { datasets: [datasetName] },
  });
  const [{ dataset_id: dataset, pipeline_run_id: run } = { dataset_id: '', pipeline_run_id: '' }] =
    Object.values(cognified);
  const [{ id: item } = { id: '' }] = await owner.need<{ id: string }[]>({
    method: 'GET',
    path: `${api}/datasets/${dataset}/data`,
  });
  await owner.need({
    method: 'POST',
    path: `${api}/permissions/datasets/${member}`,
    query: { permission_name: 'read' },
    json: [dataset],
  });
  await owner.need({
    method: 'POST',
    path: `${api}/search`,
    json: { query: `who is ${secret}`, datasets: [datasetName] },
  });
  const { id: apiKey } = await owner.need<{ id: string }>({
    method: 'POST',
    path: `${api}/auth/api-keys`,
    json: { name: `${secret} key` },
  });
  const { agentId: agent } = await owner.need<{ agentId: string }>({
    method: 'POST',
    path: `${api}/agents/create`,
    query: { name: `${secret} bot` },
  });
  const session = randomUUID();
  await owner.need({
    method: 'POST',
    path: `${api}/remember/entry`,
    json: {
      entry: { type: 'qa', question: `Who is ${secret}?`, answer: secret },
      dataset_id: dataset,
      session_id: session,
    },
  });
  const { id: connection } = await owner.need<{ id: string }>({
    method: 'POST',
    path: `${api}/agents/register`,
    json: { agent_session_name: session, session_id: session, dataset_ids: [dataset] },
  });
  await owner.need({
    method: 'POST',
    path: `${api}/remember/entry`,
    json: {
      entry: { type: 'qa', question: `Who is ${secret}?`, answer: `A captain, ${secret}.` },
      session_id: session,
      dataset_id: dataset,
    },
  });
  const { snapshot, restore } = await makeSnapshot(owner, dataset, secret);
  const ontology = `boats-${randomUUID()}`;
  await owner.need({
    method: 'POST',
    path: '/api/v1/ontologies',
    form: { ontology_key: ontology },
    file: {
      field: 'ontology_file',
      name: `${secret}.owl`,
      text: `<http://a.example/${secret}> a <http://a.example/Boat> .`,
    },
  });
  const { skill, proposal } = await makeSkill(owner, dataset, secret);
  const configurations = `${api}/configuration`;
  await owner.need({
    method: 'POST',
    path: `${configurations}/store_user_configuration`,
    json: { name: `${secret} settings`, config: { colour: secret } },
  });
  const stored = await owner.need<{ id: string; name: string }[]>({
    method: 'GET',
    path: `${configurations}/get_user_configuration/`,
  });
  const configuration = stored.find(({ name }) => name === `${secret} settings`)?.id ?? '';
  const things = {
    dataset,
    datasetName,
    item,
    run,
    apiKey,
    agent,
    connection,
    configuration,
    session,
    ontology,
    skill,
    proposal,
    snapshot,
    restore,
  };
  return { ids: { tenant, owner: ownerId, ownerEmail, member, role, ...things }, owner, reader, secret };
}

/** Creates a snapshot, and a dataset that is restored from it and deleted. */
async function makeSnapshot(owner: Caller, dataset: string, secret: string) {
  const path = `/api/v1/datasets/${dataset}/snapshots`;
  const { id: snapshot } = await owner.need<{ id: string }>({ method: 'POST', path, json: {} });
  const complete = async () =>
    (await owner.need<{ status: string }>({ method: 'GET', path: `${path}/${snapshot}` })).status === 'complete';
  await until('the snapshot is complete', complete);
  const json = { name: `${secret}_restored` };
  const started = await owner.need<{ id: string }>({ method: 'POST', path: `${path}/${snapshot}/restore`, json });
  const restored = async () =>
    owner.need<{ status: string; dataset_id: string }>({
      method: 'GET',
      path: `/api/v1/datasets/restores/${started.id}`,
    });
  await until('the restore is over', async () => (await restored()).status === 'complete');
  await owner.need({ method: 'DELETE', path: `/api/v1/datasets/${(await restored()).dataset_id}` });
  return { snapshot, restore: started.id };
}

/** Creates a skill that failed, with a proposal for a better one. */
async function makeSkill(owner: Caller, dataset: string, secret: string) {
  const name = `${secret} whaling`;
  const skill = { skills_text: `How ${secret} finds whales.`, skill_name: name, dataset_id: dataset };
  await owner.need({ method: 'POST', path: '/api/v1/skills', json: skill });
  const { items } = await owner.need<{ items: { selected_skill_id?: string; proposal_id?: string }[] }>({
    method: 'POST',
    path: '/api/v1/remember/entry',
    json: {
      entry: { type: 'skill_run', selected_skill_id: name, success_score: 0, error_message: `${secret} sank` },
      dataset_id: dataset,
      skill_improvement: {},
    },
  });
  return { skill: items[0]?.selected_skill_id ?? '', proposal: items[1]?.proposal_id ?? '' };
}

/** Registers an account and logs in. */
async function register(baseUrl: string, name: string) {
  const email = `${name}@example.com`;
  const { id } = await createCaller(baseUrl, name).need<{ id: string }>({
    method: 'POST',
    path: '/api/v1/auth/register',
    json: { email, password: PASSWORD },
  });
  return { id, email, caller: await logIn(baseUrl, name, email, PASSWORD) };
}

async function logIn(baseUrl: string, name: string, username: string, password: string): Promise<Caller> {
  const { access_token: token } = await createCaller(baseUrl, name).need<{ access_token: string }>({
    method: 'POST',
    path: '/api/v1/auth/login',
    form: { username, password },
  });
  return createCaller(baseUrl, name, { authorization: `Bearer ${token}` });
}

/** Identifiers of the same kinds that nothing has. */
export function missingIdentifiers(): Identifiers {
  const email = `${randomUUID()}@example.com`;
  const ids = {
    tenant: randomUUID(),
    owner: randomUUID(),
    ownerEmail: email,
    member: randomUUID(),
    role: randomUUID(),
  };
  const things = {
    dataset: randomUUID(),
    datasetName: `missing_${randomUUID()}`,
    item: randomUUID(),
    run: randomUUID(),
  };
  const own = { apiKey: randomUUID(), agent: randomUUID(), connection: `${randomUUID()}-0123456789abcdef` };
  const ontology = `boats-${randomUUID()}`;
  const skill = { skill: randomUUID(), proposal: randomUUID(), snapshot: `${randomUUID()}.one`, restore: randomUUID() };
  return { ...ids, ...things, ...own, configuration: randomUUID(), session: randomUUID(), ontology, ...skill };
}
