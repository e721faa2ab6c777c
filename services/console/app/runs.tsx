import { Anchor, Button, Group, Table, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { engram } from './api.ts';
import { count, duration } from './format.ts';
import type { Run } from './queries.ts';
import { Empty, Failed, Waiting } from './states.tsx';
import { Ago, DataTable, StateBadge } from './table.tsx';

const PAGE = 25;

const NAMES: Readonly<Record<string, string>> = {
  add_pipeline: 'Add',
  cognify_pipeline: 'Build',
  memify_pipeline: 'Memify',
  improve_pipeline: 'Improve',
};

/** `snake_case` as words. */
export const words = (name: string): string => {
  const text = name.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

interface RunFilter {
  readonly dataset?: string | undefined;
  readonly pipeline?: string | undefined;
  readonly offset?: number;
}

/** Runs and operations with a row for each of their states, newest first; read again while the page is shown. */
export const useRuns = ({ dataset, pipeline, offset = 0 }: RunFilter) =>
  useQuery({
    queryKey: ['runs', dataset, pipeline, offset],
    queryFn: () =>
      engram.get('/api/v1/activity/pipeline-runs', {
        query: { limit: PAGE * 2, offset, dataset_id: dataset, pipeline_name: pipeline },
      }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (newest(state.data ?? []).some(goesOn) ? 1000 : 5000),
  });

/** Runs and operations, newest first; each only in its last state. */
export function RunTable({
  dataset,
  pipeline,
  showsDataset = false,
}: {
  readonly dataset?: string;
  readonly pipeline?: string;
  readonly showsDataset?: boolean;
}) {
  const [offset, setOffset] = useState(0);
  const [opened, setOpened] = useState<string | null>(null);
  const runs = useRuns({ dataset, pipeline, offset });
  if (runs.isPending) return <Waiting />;
  if (runs.isError) return <Failed error={runs.error} onRetry={() => void runs.refetch()} />;
  if (runs.data.length === 0 && offset === 0)
    return (
      <Empty title="Nothing has run yet">
        {pipeline === 'improve'
          ? 'Choose sessions above: each improve is listed here with its stages.'
          : 'Runs appear here when documents are added or built.'}
      </Empty>
    );
  return (
    <>
      <DataTable
        label="Runs"
        minWidth={320}
        columns={[
          'Run',
          showsDataset ? 'Dataset' : null,
          'State',
          'Started',
          { head: 'Took', ta: 'right', visibleFrom: 'sm' },
          { head: 'Tokens', ta: 'right', visibleFrom: 'sm' },
          { head: 'By', visibleFrom: 'sm' },
        ]}
      >
        {newest(runs.data).map((run) => (
          <Fragment key={run.id}>
            <Table.Tr>
              <Table.Td>
                {run.stages === undefined ? (
                  nameOf(run)
                ) : (
                  <Anchor
                    component="button"
                    type="button"
                    size="sm"
                    aria-expanded={opened === run.id}
                    onClick={() => setOpened(opened === run.id ? null : run.id)}
                  >
                    {nameOf(run)}: stages
                  </Anchor>
                )}
              </Table.Td>
              {showsDataset ? <Table.Td>{run.dataset_name ?? '–'}</Table.Td> : null}
              <Table.Td>
                <RunState run={run} />
              </Table.Td>
              <Table.Td>
                <Ago time={run.started_at ?? run.created_at} />
              </Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {goesOn(run) ? '' : duration(run.started_at, run.ended_at)}
              </Table.Td>
              <Table.Td ta="right" visibleFrom="sm">
                {count((run.tokens_in ?? 0) + (run.tokens_out ?? 0))}
              </Table.Td>
              <Table.Td visibleFrom="sm">{run.origin ?? '–'}</Table.Td>
            </Table.Tr>
            {run.stages === undefined || opened !== run.id ? null : (
              <Table.Tr>
                <Table.Td colSpan={7}>
                  <StageTable stages={run.stages} />
                </Table.Td>
              </Table.Tr>
            )}
          </Fragment>
        ))}
      </DataTable>
      {offset > 0 || runs.data.length === PAGE * 2 ? (
        <Group justify="center" mt="sm">
          <Button variant="default" size="xs" disabled={offset === 0} onClick={() => setOffset(offset - PAGE * 2)}>
            Newer
          </Button>
          <Button
            variant="default"
            size="xs"
            disabled={runs.data.length < PAGE * 2}
            onClick={() => setOffset(offset + PAGE * 2)}
          >
            Older
          </Button>
        </Group>
      ) : null}
    </>
  );
}

type Stage = NonNullable<Run['stages']>[number];

const REASONS: Readonly<Record<string, string>> = {
  no_session_ids: 'No session was chosen',
  triplet_embedding_disabled: 'Facts are not embedded on this server',
  opt_in_disabled: 'Not asked for',
};

/** Results of the stages of an improve. */
export function StageTable({ stages }: { readonly stages: readonly Stage[] }) {
  return (
    <DataTable label="Stages of improve" minWidth={420} columns={['Stage', 'State', 'Result']}>
      {stages.map((stage) => (
        <Table.Tr key={stage.stage}>
          <Table.Td>{words(stage.stage)}</Table.Td>
          <Table.Td>
            <StateBadge color={stage.status === 'errored' ? 'red' : stage.status === 'skipped' ? 'gray' : 'green'}>
              {words(stage.status)}
            </StateBadge>
          </Table.Td>
          <Table.Td>{resultOf(stage)}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

function resultOf({ error, reason, counts }: Stage): string {
  if (error !== null) return error;
  if (reason !== null) return REASONS[reason] ?? words(reason);
  const named = Object.entries(counts).map(([name, value]) => `${words(name)}: ${value}`);
  return named.length === 0 ? 'Nothing to do' : named.join(', ');
}

const goesOn = ({ ended_at: ended, outcome }: Run): boolean => ended === null && outcome === null;

const nameOf = ({ pipeline_name: pipeline, operation_name: operation }: Run): string =>
  NAMES[pipeline ?? ''] ?? words(pipeline ?? operation);

/** A run has a row when it starts and one when it ends; the newest comes first. */
function newest(rows: readonly Run[]): readonly Run[] {
  const seen = new Set<string>();
  return rows.filter(({ pipeline_run_id: id }) => {
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

function RunState({ run }: { readonly run: Run }) {
  const hasFailed = run.outcome === 'failed' || run.error_message !== null;
  const badge = (
    <StateBadge color={hasFailed ? 'red' : goesOn(run) ? 'indigo' : 'green'}>
      {hasFailed ? 'Failed' : goesOn(run) ? 'Running' : words(run.outcome ?? 'done')}
    </StateBadge>
  );
  return run.error_message === null ? (
    badge
  ) : (
    <div>
      {badge}
      <Text size="xs" mt={2}>
        {run.error_message}
      </Text>
    </div>
  );
}
