import { Button, Group, Stack, Table, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { askFirst, attempt, complain, Empty, Failed, Waiting } from '../states.tsx';
import { Secret } from './secret.tsx';

type Agent = Answer<'/api/v1/agents/list', 'get'>[number];

const agentsQuery = { queryKey: ['agents'], queryFn: () => engram.get('/api/v1/agents/list') };

/** Accounts for programs that act on their own, each with a key. */
export function Agents() {
  const client = useQueryClient();
  const agents = useQuery(agentsQuery);
  const [name, setName] = useState('');
  const [created, setCreated] = useState<{ readonly name: string; readonly key: string } | null>(null);
  const changed = () => client.invalidateQueries({ queryKey: agentsQuery.queryKey });
  const create = async () => {
    try {
      const { agentApiKey: key } = await engram.post('/api/v1/agents/create', { query: { name: name.trim() } });
      setCreated({ name: name.trim(), key });
      setName('');
      await changed();
    } catch (error) {
      complain(error);
    }
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
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <Group align="flex-end" gap="xs">
          <TextInput
            label="New agent"
            placeholder="code-reviewer"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" disabled={name.trim() === ''}>
            Create
          </Button>
        </Group>
      </form>
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
    </Stack>
  );
}
