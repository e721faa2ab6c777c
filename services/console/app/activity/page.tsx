import { Button, Group, Paper, Stack, Table, Tabs, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Answer } from '../../../client/index.ts';
import { engram } from '../api.ts';
import { BuildState } from '../datasets/state.tsx';
import { datasetsQuery, isRunning, progressQuery, useCapabilities, useMe } from '../queries.ts';
import { RunTable, words } from '../runs.tsx';
import { PageTitle } from '../shell.tsx';
import { askFirst, attempt, Empty, Failed, Waiting } from '../states.tsx';
import { Ago, DataTable } from '../table.tsx';
import { AuditLog } from './audit.tsx';

type DeadJob = Answer<'/api/v1/activity/jobs', 'get'>['jobs'][number];

export function ActivityPage() {
  const me = useMe();
  const manages = useCapabilities(me?.tenant_id ?? null).includes('manage_users');
  return (
    <>
      <PageTitle title="Activity" />
      <Tabs defaultValue="runs" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="runs">Runs</Tabs.Tab>
          {me?.is_superuser ? <Tabs.Tab value="jobs">Failed jobs</Tabs.Tab> : null}
          {me?.is_superuser || manages ? <Tabs.Tab value="audit">Audit log</Tabs.Tab> : null}
        </Tabs.List>
        <Tabs.Panel value="runs" pt="sm">
          <Running />
          <RunTable showsDataset />
        </Tabs.Panel>
        <Tabs.Panel value="jobs" pt="sm">
          <DeadJobs />
        </Tabs.Panel>
        <Tabs.Panel value="audit" pt="sm">
          <AuditLog />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** Builds that go on now, as far as they have come. */
function Running() {
  const datasets = useQuery(datasetsQuery).data ?? [];
  const progress = useQuery(progressQuery).data ?? {};
  const running = datasets.filter(({ id }) => isRunning(progress[id]));
  return (
    <Stack gap="xs" aria-live="polite">
      {running.map(({ id, name }) => (
        <Paper key={id} withBorder p="sm">
          <Text size="sm" fw={500}>
            Building {name}
          </Text>
          <BuildState progress={progress[id]} />
        </Paper>
      ))}
    </Stack>
  );
}

/** Jobs that failed for good: done again, or given up. */
function DeadJobs() {
  const client = useQueryClient();
  const datasets = useQuery(datasetsQuery).data ?? [];
  const jobs = useQuery({
    queryKey: ['jobs'],
    queryFn: () => engram.get('/api/v1/activity/jobs', { query: { limit: 500 } }),
    refetchInterval: 10_000,
  });
  const act = async (work: Promise<unknown>, done: string) => {
    await attempt(() => work, done);
    await client.invalidateQueries({ queryKey: ['jobs'] });
  };
  const discard = (job: DeadJob) =>
    askFirst({
      title: 'Discard the job?',
      text: <>Its work is not done: {job.error_message}</>,
      action: 'Discard it',
      run: () =>
        void act(
          engram.delete('/api/v1/activity/jobs/{job_id}', { path: { job_id: job.id } }),
          'The job was discarded.',
        ),
    });
  if (jobs.isPending) return <Waiting />;
  if (jobs.isError) return <Failed error={jobs.error} onRetry={() => void jobs.refetch()} />;
  if (jobs.data.jobs.length === 0) {
    return (
      <Empty title="No job has failed for good">
        Work that fails is tried again by itself. What cannot be done appears here.
      </Empty>
    );
  }
  return (
    <DataTable
      label="Failed jobs"
      minWidth={620}
      columns={['Job', 'Dataset', 'Why', { head: 'Tries', ta: 'right' }, 'Failed', 'What to do']}
    >
      {jobs.data.jobs.map((job) => (
        <Table.Tr key={job.id}>
          <Table.Td>{words(job.kind)}</Table.Td>
          <Table.Td>{datasets.find(({ id }) => id === job.dataset_id)?.name ?? '–'}</Table.Td>
          <Table.Td maw={360} style={{ overflowWrap: 'anywhere' }}>
            {job.error_message}
          </Table.Td>
          <Table.Td ta="right">{job.attempts}</Table.Td>
          <Table.Td>
            <Ago time={job.failed_at} />
          </Table.Td>
          <Table.Td>
            <Group gap="xs" wrap="nowrap">
              <Button
                size="compact-sm"
                onClick={() =>
                  void act(
                    engram.post('/api/v1/activity/jobs/{job_id}/replay', { path: { job_id: job.id } }),
                    'The job is done again.',
                  )
                }
              >
                Try again
              </Button>
              <Button size="compact-sm" variant="default" onClick={() => discard(job)}>
                Discard
              </Button>
            </Group>
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
