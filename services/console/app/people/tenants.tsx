import { ActionIcon, Button, Group, Menu, Paper, Select, Stack, Table, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { plural } from '../format.ts';
import { NameForm } from '../forms.tsx';
import { IconDots } from '../icons.ts';
import { useCapabilities, useMe } from '../queries.ts';
import { Section } from '../shell.tsx';
import { askFirst, attempt, complain, Failed, say, Waiting } from '../states.tsx';
import { DataTable, StateBadge } from '../table.tsx';

interface Named {
  readonly id: string;
  readonly name: string;
}

type Member = Answer<'/api/v1/permissions/tenants/{tenant_id}/users', 'get'>[number];

type Role = Answer<'/api/v1/permissions/tenants/{tenant_id}/roles', 'get'>[number];

const PERSONAL = 'personal';

/** Tenants: spaces whose members share datasets by roles. */
export function Tenants() {
  const client = useQueryClient();
  const me = useMe();
  const tenants = useQuery({ queryKey: ['tenants'], queryFn: () => engram.get('/api/v1/permissions/tenants/me') });

  const select = async (tenant: string | null) => {
    try {
      await engram.post('/api/v1/permissions/tenants/select', { body: { tenant_id: tenant } });
      // Everything is seen from another space now.
      await client.invalidateQueries();
      say('You work in another space now.');
    } catch (error) {
      complain(error);
    }
  };
  const create = async (name: string) => {
    await engram.post('/api/v1/permissions/tenants', { query: { tenant_name: name } });
    say(`${name} was created. You work in it now.`);
    await client.invalidateQueries();
  };
  if (tenants.isPending) return <Waiting />;
  if (tenants.isError) return <Failed error={tenants.error} onRetry={() => void tenants.refetch()} />;
  const current = tenants.data.find(({ id }) => id === me?.tenant_id);
  return (
    <Stack>
      <Group align="flex-start" gap="lg">
        <Select
          label="You work in"
          data={[
            { value: PERSONAL, label: 'Your own space' },
            ...tenants.data.map(({ id, name: label }) => ({ value: id, label })),
          ]}
          value={me?.tenant_id ?? PERSONAL}
          onChange={(value) => void select(value === PERSONAL ? null : value)}
          allowDeselect={false}
        />
        <NameForm label="New tenant" placeholder="Acme" action="Create" onSubmit={create} />
      </Group>
      {current === undefined ? (
        <Text size="sm" c="dimmed">
          In your own space datasets are yours alone, unless you share them. A tenant is a space of several people, with
          members and roles, in which datasets are shared with all or with a role.
        </Text>
      ) : (
        <TenantView key={current.id} tenant={current} />
      )}
    </Stack>
  );
}

function TenantView({ tenant }: { readonly tenant: Named }) {
  const client = useQueryClient();
  const manages = useCapabilities(tenant.id).includes('manage_users');
  const roles = useQuery({
    queryKey: ['roles', tenant.id],
    queryFn: () => engram.get('/api/v1/permissions/tenants/{tenant_id}/roles', { path: { tenant_id: tenant.id } }),
  });
  const members = useQuery({
    queryKey: ['members', tenant.id],
    queryFn: () => engram.get('/api/v1/permissions/tenants/{tenant_id}/users', { path: { tenant_id: tenant.id } }),
    enabled: manages,
  });
  const act = async (work: () => Promise<unknown>, done: string): Promise<boolean> => {
    const isDone = await attempt(work, done);
    if (isDone) for (const key of ['members', 'roles']) await client.invalidateQueries({ queryKey: [key, tenant.id] });
    return isDone;
  };
  const changed = async (done: string) => {
    say(done);
    for (const key of ['members', 'roles']) await client.invalidateQueries({ queryKey: [key, tenant.id] });
  };
  const add = async (email: string) => {
    const { user_id: user } = await engram.post('/api/v1/users/get-user-id', { body: { email } });
    await engram.post('/api/v1/permissions/users/{user_id}/tenants', {
      path: { user_id: user },
      query: { tenant_id: tenant.id },
    });
    await changed(`${email} is a member now.`);
  };
  const createRole = async (role: string) => {
    await engram.post('/api/v1/permissions/roles', { query: { role_name: role } });
    await changed(`The role ${role} was created.`);
  };
  const removeRole = (each: Role) =>
    askFirst({
      title: `Delete the role ${each.name}?`,
      text: <>{plural(each.user_count, 'member')} lose what it permits.</>,
      action: 'Delete the role',
      run: () =>
        void act(
          () => engram.delete('/api/v1/permissions/roles/{role_id}', { path: { role_id: each.id } }),
          `The role ${each.name} was deleted.`,
        ),
    });
  if (roles.isPending) return <Waiting />;
  if (roles.isError) return <Failed error={roles.error} onRetry={() => void roles.refetch()} />;
  return (
    <Stack>
      <Section title="Roles">
        {roles.data.length === 0 ? (
          <Text size="sm" c="dimmed">
            No roles yet. Members of a role share its permissions on datasets.
          </Text>
        ) : null}
        <Group gap="xs" mb="xs">
          {roles.data.map((each) => (
            <Paper key={each.id} withBorder px="sm" py={4}>
              <Group gap="xs">
                <Text size="sm">{each.name}</Text>
                <Text size="xs" c="dimmed">
                  {plural(each.user_count, 'member')}
                </Text>
                {manages ? (
                  <Button
                    size="compact-xs"
                    variant="default"
                    onClick={() => removeRole(each)}
                    aria-label={`Delete the role ${each.name}`}
                  >
                    Delete
                  </Button>
                ) : null}
              </Group>
            </Paper>
          ))}
        </Group>
        {manages ? (
          <NameForm label="New role" placeholder="editors" action="Create the role" onSubmit={createRole} />
        ) : null}
      </Section>
      {manages ? (
        <Section title="Members">
          {members.isError ? <Failed error={members.error} /> : null}
          <DataTable label="Members" minWidth={380} columns={['Account', 'Roles', 'What to do']}>
            {members.data?.map((member) => (
              <MemberRow key={member.id} member={member} roles={roles.data} tenant={tenant} onAct={act} />
            ))}
          </DataTable>
          <NameForm
            label="E-mail of an account"
            placeholder="name@example.com"
            type="email"
            action="Add the member"
            onSubmit={add}
          />
        </Section>
      ) : null}
    </Stack>
  );
}

interface MemberRowProps {
  readonly member: Member;
  readonly roles: readonly Role[];
  readonly tenant: Named;
  onAct(work: () => Promise<unknown>, done: string): Promise<boolean>;
}

function MemberRow({ member, roles, tenant, onAct }: MemberRowProps) {
  const has = new Set(member.roles.map(({ id }) => id));
  const toggle = ({ id, name }: Named) => {
    const role = { path: { user_id: member.id }, query: { role_id: id } };
    const done = has.has(id)
      ? `${member.email} has the role ${name} no longer.`
      : `${member.email} has the role ${name} now.`;
    return onAct(
      () =>
        has.has(id)
          ? engram.delete('/api/v1/permissions/users/{user_id}/roles', role)
          : engram.post('/api/v1/permissions/users/{user_id}/roles', role),
      done,
    );
  };
  const remove = () =>
    askFirst({
      title: `Remove ${member.email}?`,
      text: <>Everything the account and its agents have in {tenant.name} goes to another owner or is erased.</>,
      action: 'Remove the member',
      run: () =>
        void onAct(
          () =>
            engram.delete('/api/v1/permissions/tenants/{tenant_id}/users/{user_id}', {
              path: { tenant_id: tenant.id, user_id: member.id },
            }),
          `${member.email} is no member any more.`,
        ),
    });
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>{member.email}</Table.Td>
      <Table.Td>
        <Group gap={4}>
          {member.roles.map(({ id, name }) => (
            <StateBadge key={id}>{name}</StateBadge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" color="gray" aria-label={`Actions for ${member.email}`}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {roles.map((role) => (
              <Menu.Item key={role.id} onClick={() => void toggle(role)}>
                {has.has(role.id) ? `Take the role ${role.name}` : `Give the role ${role.name}`}
              </Menu.Item>
            ))}
            <Menu.Item onClick={remove}>Remove from {tenant.name}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  );
}
