import { Alert, Button, Code, CopyButton, Group, MultiSelect, Progress, Stack, Table, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { ago, count } from '../format.ts';
import { afterRun, datasetsQuery, usePermitted } from '../queries.ts';
import { words } from '../runs.tsx';
import { PageTitle, Section } from '../shell.tsx';
import { attempt, Empty, Failed, Waiting } from '../states.tsx';
import { DataTable, StateBadge } from '../table.tsx';
import { Sources } from './sources.tsx';

type Sync = Answer<'/api/v1/sync/runs', 'get'>['runs'][number];

/** Connections of this memory: sources, another memory, and programs. */
export function IntegrationsPage() {
  return (
    <Stack gap="xl" maw={860}>
      <div>
        <PageTitle title="Integrations" />
        <Sources />
      </div>
      <Syncs />
      <Programs />
    </Stack>
  );
}

const goesOn = ({ status }: Sync): boolean => status === 'started' || status === 'in_progress';

function Syncs() {
  const client = useQueryClient();
  const datasets = useQuery(datasetsQuery).data ?? [];
  const writable = usePermitted('write');
  const [chosen, setChosen] = useState<string[]>([]);
  const syncs = useQuery({
    queryKey: ['syncs'],
    queryFn: () => engram.get('/api/v1/sync/runs'),
    refetchInterval: ({ state }) => (state.data?.runs.some(goesOn) ? 1000 : 15_000),
  });
  if (syncs.isPending) return <Waiting />;
  if (syncs.isError) return <Failed error={syncs.error} onRetry={() => void syncs.refetch()} />;
  const { has_remote: hasRemote, runs } = syncs.data;
  const own = datasets.filter(({ id }) => writable.has(id));
  const start = async () => {
    await attempt(() => engram.post('/api/v1/sync', { body: { datasetIds: chosen } }), 'The sync has started.');
    await client.invalidateQueries({ queryKey: ['syncs'] });
    afterRun(client);
  };
  return (
    <Section
      title="Another memory"
      about="A sync brings the documents of datasets and those of another Engram or cognee into step: each side gets what it lacks, and what was forgotten here is forgotten there."
    >
      {hasRemote ? (
        <Group align="flex-end" gap="xs" mb="md">
          <MultiSelect
            label="Datasets"
            placeholder={chosen.length === 0 ? 'All that you may write' : ''}
            data={own.map(({ id, name }) => ({ value: id, label: name }))}
            value={chosen}
            onChange={setChosen}
            miw={280}
            searchable
            clearable
            clearButtonProps={{ 'aria-label': 'Choose all' }}
          />
          <Button onClick={() => void start()} disabled={own.length === 0 || runs.some(goesOn)}>
            Sync now
          </Button>
        </Group>
      ) : (
        <Alert variant="outline" color="gray" mb="md">
          No other memory is configured. Set COGNEE_SERVICE_URL to its address and COGNEE_API_KEY to a key of it, then
          start this server again.
        </Alert>
      )}
      {runs.length === 0 ? (
        hasRemote && <Empty title="No syncs yet">Those of the last month are listed here.</Empty>
      ) : (
        <DataTable
          label="Syncs"
          minWidth={560}
          columns={[
            'Datasets',
            'State',
            { head: 'Sent', ta: 'right' },
            { head: 'Fetched', ta: 'right' },
            { head: 'Passed over', ta: 'right' },
            'Started',
          ]}
        >
          {runs.map((run) => (
            <Table.Tr key={run.run_id}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{run.dataset_names.join(', ')}</Table.Td>
              <Table.Td>
                <SyncState run={run} />
              </Table.Td>
              <Table.Td ta="right">{count(run.uploaded)}</Table.Td>
              <Table.Td ta="right">{count(run.downloaded)}</Table.Td>
              <Table.Td ta="right">{count(run.passed_over)}</Table.Td>
              <Table.Td>{ago(run.created_at)}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Section>
  );
}

function SyncState({ run }: { readonly run: Sync }) {
  if (goesOn(run)) return <Progress value={run.progress_percentage} animated aria-label="Progress of the sync" />;
  return (
    <>
      <StateBadge color={run.status === 'completed' ? 'green' : 'red'}>{words(run.status)}</StateBadge>
      {run.error === null ? null : (
        <Text size="xs" mt={2} maw={260} style={{ overflowWrap: 'anywhere' }}>
          {run.error}
        </Text>
      )}
    </>
  );
}

/** How programs are connected, with the address of this server. */
function Programs() {
  const url = `${window.location.origin}/mcp`;
  const entries = [
    { name: 'Claude Code', text: `claude mcp add --transport http engram ${url}` },
    {
      name: 'VS Code (.vscode/mcp.json)',
      text: JSON.stringify({ servers: { engram: { type: 'http', url } } }, null, 2),
    },
    { name: 'Claude Desktop, Cursor and others: prints the entry', text: 'engram mcp --print' },
    { name: 'From a running cognee', text: `engram import-cognee --from http://… --url ${window.location.origin}` },
  ];
  return (
    <Section
      title="Programs"
      about="Agents use this memory over MCP. Where sign-in is required they send a key as X-Api-Key; People has keys, and lists the programs that are connected."
    >
      <Stack gap="sm">
        {entries.map(({ name, text }) => (
          <div key={name}>
            <Group justify="space-between" mb={4}>
              <Text size="sm" fw={500}>
                {name}
              </Text>
              <CopyButton value={text}>
                {({ copied, copy }) => (
                  <Button size="compact-xs" variant="default" onClick={copy} aria-label={`Copy for ${name}`}>
                    {copied ? 'Copied' : 'Copy'}
                  </Button>
                )}
              </CopyButton>
            </Group>
            <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {text}
            </Code>
          </div>
        ))}
      </Stack>
    </Section>
  );
}
