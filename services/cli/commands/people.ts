import { type Action, type CommandCall, isSet, stringList, stringOption } from '../command.ts';
import { askPassword } from '../confirm.ts';
import { group, textOf } from '../group.ts';
import { harmless } from '../output.ts';
import { type InvitationAnswer, invite, myTenants, roleIdOf, rolesOf, tenantIdOf, userIdOf } from '../people.ts';
import { usageFailure } from '../terminal.ts';
import { findDataset } from '../wire.ts';

const PERMISSIONS = '/api/v1/permissions';
const tenantOption = {
  tenant: { type: 'string', value: 'NAME', meaning: 'tenant by name or id, default the selected one' },
} as const;

function tenantOf(call: CommandCall): Promise<string> {
  return tenantIdOf(call, stringOption(call.options, 'tenant'));
}

const first = (call: CommandCall) => call.arguments[0] ?? '';
const second = (call: CommandCall) => call.arguments[1] ?? '';

const userFields = ['email', 'id', 'is_superuser', 'is_active', 'is_verified', 'tenant_id'];

const users: readonly Action[] = [
  {
    name: 'me',
    summary: 'Shows who the key belongs to.',
    fields: userFields,
    request: ({ api }) => api.json('GET', '/api/v1/users/me'),
  },
  {
    name: 'list',
    summary: 'Lists the users of a tenant.',
    options: tenantOption,
    request: async (call) => call.api.json('GET', `${PERMISSIONS}/tenants/${await tenantOf(call)}/users`),
    fields: ['email', 'id', 'roles'],
  },
  {
    name: 'show',
    parameters: '<email>',
    summary: 'Shows a user by email or id.',
    fields: userFields,
    request: async (call) => call.api.json('GET', `/api/v1/users/${await userIdOf(call, first(call))}`),
  },
  {
    name: 'create',
    parameters: '<email>',
    summary: 'Registers a user; asks for the password (or ENGRAM_PASSWORD).',
    fields: userFields,
    request: async (call) =>
      call.api.json('POST', '/api/v1/auth/register', {
        body: { email: first(call), password: await askPassword(call, 'ENGRAM_PASSWORD') },
      }),
  },
  {
    name: 'invite',
    parameters: '<email>',
    summary: 'Invites a user, who chooses the password: by a mail, or a link that is shown once.',
    request: (call) => invite(call, first(call)),
    show: (answer) => {
      const { user, link } = answer as InvitationAnswer;
      return link ?? `a mail is on its way to ${harmless(user.email)}`;
    },
  },
  {
    name: 'update',
    parameters: '<email>',
    summary: 'Changes a user; for superusers.',
    options: {
      email: { type: 'string', value: 'EMAIL', meaning: 'new address' },
      password: { type: 'boolean', meaning: 'ask for a new password (or ENGRAM_PASSWORD)' },
      superuser: { type: 'string', value: 'yes|no', meaning: 'may do everything' },
      active: { type: 'string', value: 'yes|no', meaning: 'may sign in' },
      verified: { type: 'string', value: 'yes|no', meaning: 'the address is known to be theirs' },
    },
    fields: userFields,
    request: async (call) => {
      const email = stringOption(call.options, 'email');
      const body = {
        ...(email === null ? {} : { email }),
        ...flag(call, 'superuser', 'is_superuser'),
        ...flag(call, 'active', 'is_active'),
        ...flag(call, 'verified', 'is_verified'),
        ...(isSet(call.options, 'password') ? { password: await askPassword(call, 'ENGRAM_PASSWORD') } : {}),
      };
      if (Object.keys(body).length === 0) throw usageFailure('Nothing to change. See: engram users --help');
      return call.api.json('PATCH', `/api/v1/users/${await userIdOf(call, first(call))}`, { body });
    },
  },
  {
    name: 'delete',
    parameters: '<email>',
    summary: 'Deletes a user and what is theirs.',
    asks: (call) => `Delete user ${first(call)} and all data of theirs?`,
    request: async (call) => call.api.json('DELETE', `/api/v1/users/${await userIdOf(call, first(call))}`),
  },
];

function flag(call: CommandCall, option: string, field: string): Readonly<Record<string, boolean>> {
  const value = stringOption(call.options, option);
  if (value === null) return {};
  if (value !== 'yes' && value !== 'no') throw usageFailure(`--${option}: say yes or no, not '${value}'`);
  return { [field]: value === 'yes' };
}

export const usersCommand = group('users', 'Users: me, list, show, create, invite, update, delete.', users);

const tenants: readonly Action[] = [
  { name: 'list', summary: 'Lists the tenants that you belong to.', request: myTenants, fields: ['name', 'id'] },
  {
    name: 'create',
    parameters: '<name>',
    summary: 'Creates a tenant that you own.',
    request: (call) => call.api.json('POST', `${PERMISSIONS}/tenants`, { query: { tenant_name: first(call) } }),
  },
  {
    name: 'select',
    parameters: '[name]',
    summary: 'Works in this tenant from now on; without a name in the personal space.',
    request: async (call) => {
      const tenant = call.arguments[0];
      const id = tenant === undefined ? null : await tenantIdOf(call, tenant);
      return call.api.json('POST', `${PERMISSIONS}/tenants/select`, { body: { tenant_id: id } });
    },
  },
  {
    name: 'add-user',
    parameters: '<email>',
    summary: 'Makes a user a member.',
    options: tenantOption,
    request: async (call) =>
      call.api.json('POST', `${PERMISSIONS}/users/${await userIdOf(call, first(call))}/tenants`, {
        query: { tenant_id: await tenantOf(call) },
      }),
  },
  {
    name: 'remove-user',
    parameters: '<email>',
    summary: 'Ends the membership of a user.',
    options: tenantOption,
    asks: (call) => `Remove ${first(call)} from the tenant?`,
    request: async (call) =>
      call.api.json(
        'DELETE',
        `${PERMISSIONS}/tenants/${await tenantOf(call)}/users/${await userIdOf(call, first(call))}`,
      ),
  },
];

export const tenantsCommand = group('tenants', 'Tenants: list, create, select, and who belongs to them.', tenants);

const roles: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists the roles of a tenant.',
    options: tenantOption,
    request: async (call) => rolesOf(call, await tenantOf(call)),
    fields: ['name', 'id', 'user_count', 'description'],
  },
  {
    name: 'create',
    parameters: '<name>',
    summary: 'Creates a role in the selected tenant.',
    request: (call) => call.api.json('POST', `${PERMISSIONS}/roles`, { query: { role_name: first(call) } }),
  },
  {
    name: 'delete',
    parameters: '<role>',
    summary: 'Deletes a role; its users lose what it permits.',
    options: tenantOption,
    asks: (call) => `Delete role ${first(call)}?`,
    request: async (call) =>
      call.api.json('DELETE', `${PERMISSIONS}/roles/${await roleIdOf(call, first(call), await tenantOf(call))}`),
  },
  {
    name: 'users',
    parameters: '<role>',
    summary: 'Lists the users of a role.',
    options: tenantOption,
    fields: ['id'],
    request: async (call) => {
      const tenant = await tenantOf(call);
      return call.api.json(
        'GET',
        `${PERMISSIONS}/tenants/${tenant}/roles/${await roleIdOf(call, first(call), tenant)}/users`,
      );
    },
  },
  ...(['assign', 'unassign'] as const).map(
    (name): Action => ({
      name,
      parameters: '<role> <email>',
      summary: name === 'assign' ? 'Gives a user the role.' : 'Takes the role from a user.',
      options: tenantOption,
      request: async (call) =>
        call.api.json(
          name === 'assign' ? 'POST' : 'DELETE',
          `${PERMISSIONS}/users/${await userIdOf(call, second(call))}/roles`,
          { query: { role_id: await roleIdOf(call, first(call), await tenantOf(call)) } },
        ),
    }),
  ),
];

export const rolesCommand = group('roles', 'Roles of a tenant, and who has them.', roles);

/** Users by email; roles and tenants by id or as `role:NAME`. */
async function principalOf(call: CommandCall, who: string): Promise<string> {
  if (who.startsWith('role:')) return roleIdOf(call, who.slice(5), await tenantOf(call));
  if (who.startsWith('tenant:')) return tenantIdOf(call, who.slice(7));
  return userIdOf(call, who);
}

const permissions: readonly Action[] = [
  {
    name: 'list',
    parameters: '[who]',
    summary:
      'Lists what somebody of the tenant may read, or with --permission do else; without WHO, who may use --dataset.',
    options: {
      ...tenantOption,
      permission: { type: 'string', value: 'NAME', meaning: 'read (default), write, delete or share' },
    },
    request: async (call) => {
      if (call.arguments[0] !== undefined)
        return call.api.json('GET', `${PERMISSIONS}/principals/${await principalOf(call, first(call))}/datasets`, {
          query: { permission_name: stringOption(call.options, 'permission') ?? 'read' },
        });
      if (call.datasetGiven === null) throw usageFailure('Name a person, or a dataset with --dataset.');
      const { id } = await findDataset(call.api, call.datasetGiven);
      return call.api.json('GET', `${PERMISSIONS}/datasets/${id}/principals`);
    },
    show: (answer, { arguments: [who] }) =>
      textOf(answer, who === undefined ? ['name', 'kind', 'permissions'] : ['name', 'id', 'ownerId']),
  },
  ...(['grant', 'revoke'] as const).map(
    (name): Action => ({
      name,
      parameters: '<who> <permission>',
      summary: `${name === 'grant' ? 'Lets somebody' : 'No longer lets somebody'} read, write, delete or share --dataset.`,
      options: tenantOption,
      request: async (call) => {
        if (call.datasetGiven === null) throw usageFailure('Name the dataset with --dataset.');
        const { id } = await findDataset(call.api, call.datasetGiven);
        const path = `${PERMISSIONS}/datasets/${await principalOf(call, first(call))}`;
        const query = { permission_name: second(call) };
        return call.api.json(name === 'grant' ? 'POST' : 'DELETE', path, { query, body: [id] });
      },
    }),
  ),
  ...(['allow', 'disallow'] as const).map(
    (name): Action => ({
      name,
      parameters: '<who> <capability>',
      summary: `${name === 'allow' ? 'Gives' : 'Takes away'} a capability of the tenant.`,
      options: tenantOption,
      request: async (call) =>
        call.api.json(
          name === 'allow' ? 'POST' : 'DELETE',
          `${PERMISSIONS}/capabilities/${await principalOf(call, first(call))}`,
          { query: { capability: second(call), tenant_id: await tenantOf(call) } },
        ),
    }),
  ),
];

export const permissionsCommand = group(
  'permissions',
  'Who may do what: list, grant, revoke, allow, disallow.',
  permissions,
  'WHO is an email address, role:NAME, tenant:NAME or an id.',
);

const KEYS = '/api/v1/auth/api-keys';

const keys: readonly Action[] = [
  {
    name: 'list',
    summary: 'Lists your API keys, without the keys.',
    fields: ['id', 'name', 'label', 'created_at', 'last_used_at', 'expires_at', 'permissions'],
    request: ({ api }) => api.json('GET', KEYS),
  },
  {
    name: 'create',
    parameters: '[name]',
    summary: 'Creates an API key; it is shown this once.',
    options: {
      expires: { type: 'string', value: 'WHEN', meaning: 'seconds from now, or a date like 2027-01-31T00:00:00Z' },
      permission: { type: 'string', multiple: true, value: 'NAME', meaning: 'only this, can be repeated' },
    },
    request: async (call) => {
      const expires = stringOption(call.options, 'expires');
      const only = stringList(call.options, 'permission');
      const body = {
        ...(call.arguments[0] === undefined ? {} : { name: call.arguments[0] }),
        ...(expires === null ? {} : { expires_at: /^\d+$/.test(expires) ? Number(expires) : expires }),
        ...(only.length === 0 ? {} : { permissions: only }),
        ...(call.datasetGiven === null ? {} : { datasets: [(await findDataset(call.api, call.datasetGiven)).id] }),
      };
      return call.api.json('POST', KEYS, { body });
    },
    show: (answer) => (answer as { readonly key: string }).key,
  },
  {
    name: 'revoke',
    parameters: '<id>',
    summary: 'Makes a key invalid.',
    asks: (call) => `Revoke key ${first(call)}?`,
    request: (call) => call.api.json('DELETE', `${KEYS}/${encodeURIComponent(first(call))}`),
  },
];

export const keysCommand = group(
  'keys',
  'Your API keys: list, create, revoke.',
  keys,
  'With --dataset a new key reaches that dataset only.',
);

const LIMITS = {
  'llm-tokens-per-day': 'llmTokensPerDay',
  'llm-tokens-per-month': 'llmTokensPerMonth',
  'storage-bytes': 'storageBytes',
  items: 'items',
  datasets: 'datasets',
  'requests-per-minute': 'requestsPerMinute',
  'concurrent-runs': 'concurrentRuns',
} as const;

/** `tenant:NAME`, else the id of a key. */
async function budgetPath(call: CommandCall): Promise<string> {
  const who = first(call);
  if (who.startsWith('tenant:')) return `/api/v1/budgets/tenants/${await tenantIdOf(call, who.slice(7))}`;
  return `/api/v1/budgets/keys/${encodeURIComponent(who)}`;
}

interface Budget {
  readonly account: string;
  readonly limits: Readonly<Record<string, { readonly used: number; readonly limit: number | null }>>;
}

function budgetText(answer: unknown): string {
  const { account, limits } = answer as Budget;
  const rows = Object.entries(limits).map(([name, { used, limit }]) => ({
    limit: name,
    used,
    'at most': limit ?? 'any',
  }));
  return `${account}\n${textOf(rows)}`;
}

const budgets: readonly Action[] = [
  {
    name: 'usage',
    summary: 'Shows what is used of your budgets.',
    request: ({ api }) => api.json('GET', '/api/v1/activity/usage'),
    show: (answer) => {
      const { space, key, models } = answer as Readonly<Record<'space' | 'key', Budget | null>> & {
        readonly models: readonly Readonly<Record<string, string | number>>[];
      };
      const tables = [space, key].flatMap((budget) => (budget === null ? [] : [budgetText(budget)]));
      if (models.length > 0) tables.push(`models, last 30 days\n${textOf(models)}`);
      return tables.join('\n\n');
    },
  },
  {
    name: 'show',
    parameters: '<tenant:NAME|key>',
    summary: 'Shows the limits of a tenant or a key.',
    request: async (call) => call.api.json('GET', await budgetPath(call)),
    show: budgetText,
  },
  {
    name: 'set',
    parameters: '<tenant:NAME|key>',
    summary: 'Sets limits; those that are not given are removed.',
    options: Object.fromEntries(
      Object.keys(LIMITS).map((option) => [option, { type: 'string', value: 'NUMBER', meaning: 'at most' } as const]),
    ),
    request: async (call) => {
      const limits = Object.entries(LIMITS).flatMap(([option, field]) => {
        const value = stringOption(call.options, option);
        if (value === null) return [];
        if (!/^\d{1,15}$/.test(value)) throw usageFailure(`--${option}: '${value}' is not a number`);
        return [[field, Number(value)] as const];
      });
      return call.api.json('PUT', await budgetPath(call), { body: Object.fromEntries(limits) });
    },
    show: budgetText,
  },
];

export const budgetsCommand = group('budgets', 'Limits of tenants and keys, and what is used of them.', budgets);
