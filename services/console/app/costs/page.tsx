import { Group, Paper, Progress, SegmentedControl, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { bytes, count, when } from '../format.ts';
import { RANGES, type Range } from '../queries.ts';
import { PageTitle, Section } from '../shell.tsx';
import { Empty, Failed, Waiting } from '../states.tsx';
import { DataTable } from '../table.tsx';

type ModelCost = Answer<'/api/v1/sessions/cost-by-model', 'get'>[number];
type Usage = Answer<'/api/v1/activity/usage', 'get'>;

const LIMITS: Readonly<Record<string, string>> = {
  llmTokensPerDay: 'Model tokens today',
  llmTokensPerMonth: 'Model tokens this month',
  storageBytes: 'Stored texts',
  items: 'Documents',
  datasets: 'Datasets',
  requestsPerMinute: 'Requests this minute',
  concurrentRuns: 'Runs at the same time',
};

const ACTIONS: Readonly<Record<string, string>> = {
  Enforce: 'Refused beyond it',
  Warn: 'A warning beyond it',
};

const DAYS: Readonly<Record<Range, number>> = { '24h': 1, '7d': 7, '30d': 30, all: 3650 };

/** Shows the costs of models, and the used part of the budgets. */
export function CostsPage() {
  const [range, setRange] = useState<Range>('30d');
  const query = { range };
  const statistics = useQuery({
    queryKey: ['cost-statistics', range],
    queryFn: () => engram.get('/api/v1/sessions/stats', { query }),
  });
  const models = useQuery({
    queryKey: ['cost-models', range],
    queryFn: () => engram.get('/api/v1/sessions/cost-by-model', { query }),
  });
  const agents = useQuery({
    queryKey: ['cost-agents', range],
    queryFn: () => engram.get('/api/v1/sessions/cost-by-user-agent', { query }),
  });
  const usage = useQuery({
    queryKey: ['usage', range],
    queryFn: () => engram.get('/api/v1/activity/usage', { query: { days: DAYS[range] } }),
  });
  const tokens = usage.data?.models ?? [];
  const failed = [statistics, models, agents, usage].find(({ isError }) => isError);
  return (
    <Stack gap="lg">
      <div>
        <PageTitle title="Costs">
          <SegmentedControl
            size="xs"
            aria-label="Time"
            data={RANGES}
            value={range}
            onChange={(value) => setRange(value as Range)}
          />
        </PageTitle>
        {failed?.error ? <Failed error={failed.error} onRetry={() => void failed.refetch()} /> : null}
        {statistics.isPending ? <Waiting /> : null}
        {statistics.data === undefined ? null : (
          <SimpleGrid cols={{ base: 2, sm: 4 }}>
            <Figure label="Sessions" value={count(statistics.data.sessions)} />
            <Figure label="Tokens read" value={count(sumOf(tokens, 'inputTokens'))} />
            <Figure label="Tokens written" value={count(sumOf(tokens, 'outputTokens'))} />
            <Figure label="Money in sessions" value={money(statistics.data.total_spend_usd)} />
          </SimpleGrid>
        )}
      </div>
      <Budgets usage={usage.data} />
      <ModelTokens models={tokens} />
      {models.data?.length === 0 && usage.data !== undefined && tokens.length === 0 ? (
        <Empty title="No model was asked">
          Without a model, answers are quotes from the documents and cost nothing.
        </Empty>
      ) : null}
      {models.data === undefined || models.data.length === 0 ? null : (
        <Section title="Sessions by model">
          <CostTable
            name="Costs by model"
            heads={['Model']}
            rows={models.data.map((cost) => ({
              key: String(cost.model),
              cells: [cost.model ?? 'unknown'],
              cost,
            }))}
          />
        </Section>
      )}
      {agents.data === undefined || agents.data.length === 0 ? null : (
        <Section title="By account">
          <CostTable
            name="Costs by account"
            heads={['Account', 'Agent']}
            rows={agents.data.map((cost) => ({
              key: `${cost.user_id} ${cost.agent_type}`,
              cells: [cost.user_email ?? cost.user_id, cost.agent_type === 'unknown' ? '–' : cost.agent_type],
              cost,
            }))}
          />
        </Section>
      )}
    </Stack>
  );
}

const sumOf = (models: Usage['models'], field: 'inputTokens' | 'outputTokens'): number =>
  models.reduce((sum, model) => sum + model[field], 0);

/** Prices are not known to the server where tokens were taken. */
const money = (value: number | null): string =>
  value === null ? 'unknown' : value.toLocaleString(undefined, { style: 'currency', currency: 'USD' });

function Figure({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <Paper withBorder p="md">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="xl" fw={600}>
        {value}
      </Text>
    </Paper>
  );
}

function Budgets({ usage }: { readonly usage: Usage | undefined }) {
  if (!usage?.space) return null;
  return (
    <Section title="Used of the budgets" label="Budgets">
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }}>
        {Object.entries(usage.space.limits).map(([name, { limit, action, used, windowEndsAt }]) => {
          const shown = (value: number) => (name === 'storageBytes' ? bytes(value) : count(value));
          const label = LIMITS[name] ?? name;
          return (
            <Paper key={name} withBorder p="sm">
              <Group justify="space-between" gap="xs">
                <Text size="sm">{label}</Text>
                <Text size="sm" fw={600}>
                  {shown(used)}
                  {limit === null ? '' : ` of ${shown(limit)}`}
                </Text>
              </Group>
              {limit === null ? (
                <Text size="xs" c="dimmed">
                  No limit
                </Text>
              ) : (
                <>
                  <Progress
                    value={limit === 0 ? 100 : Math.min(100, (used / limit) * 100)}
                    color={used >= limit ? 'red' : 'indigo'}
                    mt={6}
                    aria-label={`${label} used`}
                  />
                  <Text size="xs" c="dimmed" mt={4}>
                    {ACTIONS[action ?? ''] ?? ''}
                    {windowEndsAt === null ? '' : ` · counted until ${when(windowEndsAt)}`}
                  </Text>
                </>
              )}
            </Paper>
          );
        })}
      </SimpleGrid>
    </Section>
  );
}

/** Tokens of all calls, those that build memory included. */
function ModelTokens({ models }: Pick<Usage, 'models'>) {
  if (models.length === 0) return null;
  return (
    <Section title="Tokens by model">
      <DataTable
        label="Tokens by model"
        minWidth={480}
        columns={[
          'Model',
          { head: 'Calls', ta: 'right' },
          { head: 'Tokens read', ta: 'right' },
          { head: 'Tokens written', ta: 'right' },
        ]}
      >
        {models.map(({ model, calls, inputTokens, outputTokens }) => (
          <Table.Tr key={model}>
            <Table.Td>{model}</Table.Td>
            <Table.Td ta="right">{count(calls)}</Table.Td>
            <Table.Td ta="right">{count(inputTokens)}</Table.Td>
            <Table.Td ta="right">{count(outputTokens)}</Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
    </Section>
  );
}

interface CostTableProps {
  readonly name: string;
  readonly heads: readonly string[];
  readonly rows: readonly {
    readonly key: string;
    readonly cells: readonly string[];
    readonly cost: Omit<ModelCost, 'model'>;
  }[];
}

function CostTable({ name, heads, rows }: CostTableProps) {
  return (
    <DataTable
      label={name}
      minWidth={480}
      columns={[
        ...heads,
        { head: 'Sessions', ta: 'right' },
        { head: 'Tokens read', ta: 'right' },
        { head: 'Tokens written', ta: 'right' },
        { head: 'Money', ta: 'right' },
      ]}
    >
      {rows.map(({ key, cells, cost }) => (
        <Table.Tr key={key}>
          {heads.map((head, index) => (
            <Table.Td key={head}>{cells[index]}</Table.Td>
          ))}
          <Table.Td ta="right">{count(cost.session_count)}</Table.Td>
          <Table.Td ta="right">{count(cost.tokens_in)}</Table.Td>
          <Table.Td ta="right">{count(cost.tokens_out)}</Table.Td>
          <Table.Td ta="right">{money(cost.cost_usd)}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
