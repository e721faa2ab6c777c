import { ActionIcon, Group, Pagination, Stack, Table, Text } from '@mantine/core';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { NameForm } from '../forms.tsx';
import { type Dataset, datasetsQuery, type Permission, useMe, usePermitted } from '../queries.ts';
import { complain, Empty, Failed, sayWithUndo, Waiting } from '../states.tsx';
import { agentsQuery } from './agents.tsx';

type Holder = Answer<'/api/v1/permissions/datasets/{dataset_id}/principals', 'get'>[number];
type Candidate = Pick<Holder, 'id' | 'kind' | 'name'>;

const PERMISSIONS: readonly { readonly name: Permission; readonly letter: string; readonly meaning: string }[] = [
  { name: 'read', letter: 'R', meaning: 'read and ask' },
  { name: 'write', letter: 'W', meaning: 'add documents and build' },
  { name: 'delete', letter: 'D', meaning: 'delete documents and the dataset' },
  { name: 'share', letter: 'S', meaning: 'share it with others' },
];
const KINDS: Readonly<Record<Holder['kind'], string>> = { user: 'Account', role: 'Role', tenant: 'All members' };
const COLUMNS = 5;

/** Who may do what in the datasets that the person may share. */
export function Permissions() {
  const [at, setAt] = useState(1);
  const datasets = useQuery(datasetsQuery);
  const shareable = usePermitted('share');
  if (datasets.isPending) return <Waiting />;
  if (datasets.isError) return <Failed error={datasets.error} onRetry={() => void datasets.refetch()} />;
  const own = datasets.data.filter(({ id }) => shareable.has(id));
  if (own.length === 0) {
    return (
      <Empty title="No dataset that you may share">
        Who made a dataset decides who else may use it. Yours appear here.
      </Empty>
    );
  }
  return (
    <Stack>
      <PermissionMatrix datasets={own.slice((at - 1) * COLUMNS, at * COLUMNS)} />
      {own.length > COLUMNS ? (
        <Pagination
          total={Math.ceil(own.length / COLUMNS)}
          value={at}
          onChange={setAt}
          getControlProps={(control) => ({ 'aria-label': `${control} page of datasets` })}
        />
      ) : null}
    </Stack>
  );
}

const principalsQuery = (dataset: string) => ({
  queryKey: ['principals', dataset],
  queryFn: () => engram.get('/api/v1/permissions/datasets/{dataset_id}/principals', { path: { dataset_id: dataset } }),
});

/** Principals by datasets; a click gives or takes a permission, and can be taken back. */
export function PermissionMatrix({ datasets }: { readonly datasets: readonly Dataset[] }) {
  const me = useMe();
  const client = useQueryClient();
  const candidates = useCandidates();
  const [added, setAdded] = useState<readonly Candidate[]>([]);
  const held = useQueries({ queries: datasets.map(({ id }) => principalsQuery(id)) });
  const add = async (email: string) => {
    const { user_id: id } = await engram.post('/api/v1/users/get-user-id', { body: { email } });
    setAdded((all) => [...all, { id, kind: 'user', name: email }]);
  };
  const change = async (holder: Candidate, dataset: Dataset, permission: Permission, gives: boolean) => {
    const grant = { path: { principal_id: holder.id }, query: { permission_name: permission }, body: [dataset.id] };
    try {
      if (gives) await engram.post('/api/v1/permissions/datasets/{principal_id}', grant);
      else await engram.delete('/api/v1/permissions/datasets/{principal_id}', grant);
      sayWithUndo(
        `${holder.name} may ${gives ? '' : 'no longer '}${permission} ${dataset.name}.`,
        () => void change(holder, dataset, permission, !gives),
      );
    } catch (error) {
      complain(error);
    }
    await client.invalidateQueries({ queryKey: principalsQuery(dataset.id).queryKey });
  };
  const failed = held.find(({ isError }) => isError);
  if (failed?.error) return <Failed error={failed.error} onRetry={() => void failed.refetch()} />;
  if (held.some(({ isPending }) => isPending)) return <Waiting />;
  const known = [...held.flatMap(({ data }) => data ?? []), ...candidates, ...added];
  const rows = [...new Map(known.map((holder) => [holder.id, holder])).values()];
  return (
    <Stack>
      <Group gap="md">
        {PERMISSIONS.map(({ letter, meaning }) => (
          <Text key={letter} size="sm" c="dimmed">
            <b>{letter}</b> {meaning}
          </Text>
        ))}
      </Group>
      <Table.ScrollContainer minWidth={220 + datasets.length * 130}>
        <Table aria-label="Permissions" withColumnBorders>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Who</Table.Th>
              {datasets.map(({ id, name }) => (
                <Table.Th key={id} style={{ overflowWrap: 'anywhere' }}>
                  {name}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((holder) => (
              <Table.Tr key={holder.id}>
                <Table.Th scope="row" fw={400} style={{ overflowWrap: 'anywhere' }}>
                  {holder.name}
                  <Text size="xs" c="dimmed">
                    {holder.id === me?.id ? 'You' : KINDS[holder.kind]}
                  </Text>
                </Table.Th>
                {datasets.map((dataset, index) => {
                  const has = held[index]?.data?.find(({ id }) => id === holder.id)?.permissions ?? [];
                  return (
                    <Table.Td key={dataset.id}>
                      {holder.id === me?.id ? (
                        // The person's own rights cannot be changed here: a slip would lock them out.
                        <Text size="sm">{has.join(', ') || 'by a role'}</Text>
                      ) : (
                        <Group gap={4} wrap="nowrap">
                          {PERMISSIONS.map(({ name, letter }) => (
                            <ActionIcon
                              key={name}
                              size={26}
                              variant={has.includes(name) ? 'filled' : 'default'}
                              aria-pressed={has.includes(name)}
                              aria-label={`${holder.name} may ${name} ${dataset.name}`}
                              onClick={() => void change(holder, dataset, name, !has.includes(name))}
                            >
                              <Text size="xs" fw={600}>
                                {letter}
                              </Text>
                            </ActionIcon>
                          ))}
                        </Group>
                      )}
                    </Table.Td>
                  );
                })}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <NameForm label="Somebody else" type="email" placeholder="name@example.com" action="Add a row" onSubmit={add} />
    </Stack>
  );
}

/** Whom the person is likely to share with: own agents, and the roles and members of the tenant. */
function useCandidates(): readonly Candidate[] {
  const me = useMe();
  const tenant = me?.tenant_id ?? null;
  const path = { tenant_id: tenant ?? '' };
  const common = { enabled: tenant !== null, retry: false };
  const agents = useQuery(agentsQuery).data ?? [];
  const tenants = useQuery({ queryKey: ['tenants'], queryFn: () => engram.get('/api/v1/permissions/tenants/me') }).data;
  const roles = useQuery({
    queryKey: ['roles', tenant],
    queryFn: () => engram.get('/api/v1/permissions/tenants/{tenant_id}/roles', { path }),
    ...common,
  }).data;
  // Only those who manage users are told who the members are.
  const members = useQuery({
    queryKey: ['members', tenant],
    queryFn: () => engram.get('/api/v1/permissions/tenants/{tenant_id}/users', { path }).catch(() => []),
    ...common,
  }).data;
  return [
    ...(tenants ?? []).filter(({ id }) => id === tenant).map(({ id, name }) => ({ id, kind: 'tenant', name }) as const),
    ...(roles ?? []).map(({ id, name }) => ({ id, kind: 'role', name }) as const),
    ...(members ?? []).map(({ id, email }) => ({ id, kind: 'user', name: email }) as const),
    ...agents.map(({ agentId, agentEmail }) => ({ id: agentId, kind: 'user', name: agentEmail }) as const),
  ];
}
