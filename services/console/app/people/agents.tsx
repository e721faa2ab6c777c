import { Button, Stack, Table, Text } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { ago } from '../format.ts';
import { NameForm } from '../forms.tsx';
import { datasetsQuery } from '../queries.ts';
import { Section } from '../shell.tsx';
import { askFirst, attempt, Empty, Failed, Waiting } from '../states.tsx';
import { DataTable, Pages, StateBadge } from '../table.tsx';
import { Secret } from './secret.tsx';

type Agent = Answer<'/api/v1/agents/list', 'get'>[number];

export const agentsQuery = { queryKey: ['agents'], queryFn: () => engram.get('/api/v1/agents/list') };

/** Accounts for programs that act on their own, each with a key. */
export function Agents() {
  const client = useQueryClient();
  const agents = useQuery(agentsQuery);
  const [created, setCreated] = useState<{ readonly name: string; readonly key: string } | null>(null);
  const changed = () => client.invalidateQueries({ queryKey: agentsQuery.queryKey });
  const create = async (name: string) => {
    const { agentApiKey: key } = await engram.post('/api/v1/agents/create', { query: { name } });
    setCreated({ name, key });
    await changed();
  };
  const remove = (agent: Agent) =>
    askFirst({
      title: `Delete ${agent.agentEmail}?`,
      text: 'Its key is refused from then on, and its sessions are erased.',
      action: 'Delete the agent',
      run: async () => {
        const path = { agent_id: agent.agentId };
        await attempt(() => engram.delete('/api/v1/agents/{agent_id}', { path }), `${agent.agentEmail} was deleted.`);
        await changed();
      },
    });
  if (agents.isPending) return <Waiting />;
  if (agents.isError) return <Failed error={agents.error} onRetry={() => void agents.refetch()} />;
  return (
    <Stack>
      <NameForm label="New agent" placeholder="code-reviewer" action="Create" onSubmit={create} />
      {created === null ? null : (
        <Secret title={`The key of ${created.name}`} secret={created.key} onClose={() => setCreated(null)} />
      )}
      {agents.data.length === 0 ? (
        <Empty title="No agents">
          An agent has an account of its own: what it adds and asks is told apart from yours.
        </Empty>
      ) : (
        <Table aria-label="Agents">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Agent</Table.Th>
              <Table.Th>What to do</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {agents.data.map((agent) => (
              <Table.Tr key={agent.agentId}>
                <Table.Td>{agent.agentEmail}</Table.Td>
                <Table.Td>
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => remove(agent)}
                    aria-label={`Delete ${agent.agentEmail}`}
                  >
                    Delete
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Connections />
    </Stack>
  );
}

const PAGE = 25;

/** Programs that announced a session, those that ended too. */
function Connections() {
  const datasets = useQuery(datasetsQuery).data ?? [];
  const [at, setAt] = useState(1);
  const connections = useQuery({
    queryKey: ['connections', at],
    queryFn: () =>
      engram.get('/api/v1/agents/connections', { query: { active_only: false, limit: PAGE, offset: (at - 1) * PAGE } }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });
  if (connections.isPending) return <Waiting />;
  if (connections.isError) return <Failed error={connections.error} onRetry={() => void connections.refetch()} />;
  const { agents: list, total } = connections.data;
  const nameOf = (id: string | null) => datasets.find((each) => each.id === id)?.name;
  return (
    <Section title="Connections">
      {list.length === 0 ? (
        <Text size="sm" c="dimmed">
          None yet. A program that works with this memory appears here when it announces its session.
        </Text>
      ) : (
        <DataTable
          label="Connections"
          minWidth={520}
          columns={['Session', 'Program', 'Datasets', 'State', 'Last activity']}
        >
          {list.map((connection) => (
            <Table.Tr key={connection.id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{connection.agent_session_name}</Table.Td>
              <Table.Td>{connection.type}</Table.Td>
              <Table.Td>
                {connection.datasets.map(({ name, id }) => name ?? nameOf(id) ?? id).join(', ') || '–'}
              </Table.Td>
              <Table.Td>
                <StateBadge color={connection.status === 'active' ? 'green' : 'gray'}>{connection.status}</StateBadge>
              </Table.Td>
              <Table.Td>{ago(connection.last_active_at)}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
      <Pages total={Math.ceil(total / PAGE)} value={at} onChange={setAt} />
    </Section>
  );
}
