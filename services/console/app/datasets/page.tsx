import { ActionIcon, Alert, Button, Group, List, Menu, Modal, Paper, Stack, Tabs, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { address, engram } from '../api.ts';
import { bytes, count, plural } from '../format.ts';
import {
  IconDots,
  IconDownload,
  IconMessageQuestion,
  IconRefresh,
  IconShare,
  IconTopologyStar3,
  IconTrash,
} from '../icons.ts';
import { Improve } from '../improve/improve.tsx';
import { PermissionMatrix } from '../people/permissions.tsx';
import {
  afterRun,
  type Dataset,
  datasetsQuery,
  isRunning,
  MOST_SUMMED,
  progressQuery,
  sizesQuery,
  usePermitted,
} from '../queries.ts';
import { RunTable, words } from '../runs.tsx';
import { LinkButton, PageTitle } from '../shell.tsx';
import { Skills } from '../skills/skills.tsx';
import { askFirst, attempt, complain, Empty, Failed, say, Waiting } from '../states.tsx';
import { AddPanel, build } from './add.tsx';
import { Changes } from './changes.tsx';
import { ItemTable, titleOf } from './items.tsx';
import { Options } from './options.tsx';
import { Snapshots } from './snapshots.tsx';
import { BuildState } from './state.tsx';

export function DatasetPage() {
  const { dataset: id } = useParams({ from: '/datasets/$dataset' });
  const datasets = useQuery(datasetsQuery);
  if (datasets.isPending) return <Waiting />;
  if (datasets.isError) return <Failed error={datasets.error} onRetry={() => void datasets.refetch()} />;
  const dataset = datasets.data.find((each) => each.id === id);
  if (dataset === undefined) {
    return (
      <Empty title="There is no such dataset" action={<LinkButton to="/datasets">All datasets</LinkButton>}>
        It was deleted, or it was not shared with you.
      </Empty>
    );
  }
  return <DatasetView key={id} dataset={dataset} />;
}

function DatasetView({ dataset }: { readonly dataset: Dataset }) {
  const { id, name } = dataset;
  const client = useQueryClient();
  const progress = useQuery(progressQuery).data?.[id];
  const mayWrite = usePermitted('write').has(id);
  // A snapshot can be carried away, as what is shared.
  const mayShare = usePermitted('share').has(id);
  const running = isRunning(progress);
  const live = useLiveRun(id, running);
  const [starting, setStarting] = useState(false);

  // What the run has changed is read again when it ends.
  useEffect(() => {
    if (!running) afterRun(client);
  }, [running, client]);

  const start = async () => {
    setStarting(true);
    try {
      await build(id);
      await client.invalidateQueries({ queryKey: ['progress'] });
    } catch (error) {
      complain(error);
    } finally {
      setStarting(false);
    }
  };

  return (
    <Stack gap="md">
      <div>
        <PageTitle title={name}>
          <LinkButton
            to="/ask"
            search={{ dataset: id }}
            variant="default"
            leftSection={<IconMessageQuestion size={16} />}
          >
            Ask
          </LinkButton>
          <LinkButton
            to="/graph"
            search={{ dataset: id }}
            variant="default"
            leftSection={<IconTopologyStar3 size={16} />}
          >
            Graph
          </LinkButton>
          {mayWrite ? (
            <Button
              leftSection={<IconRefresh size={16} />}
              onClick={() => void start()}
              loading={starting}
              disabled={running}
            >
              Build
            </Button>
          ) : null}
          <DatasetMenu dataset={dataset} />
        </PageTitle>
        <Facts dataset={id} />
      </div>
      {running || progress?.error !== undefined ? (
        <Paper withBorder p="sm" aria-live="polite">
          <BuildState progress={progress} />
          {live?.current_stage ? (
            <Text size="xs" c="dimmed">
              {words(live.current_stage)}
              {live.stage_index && live.stage_total ? `, step ${live.stage_index} of ${live.stage_total}` : ''}
            </Text>
          ) : null}
          {progress?.error === undefined ? null : (
            <Text size="sm" mt={4}>
              {progress.error}
            </Text>
          )}
        </Paper>
      ) : null}
      <Failures dataset={id} />
      {mayWrite ? (
        <AddPanel dataset={id} />
      ) : (
        <Alert variant="outline" color="gray">
          You may read this dataset. To add documents you need the permission to write.
        </Alert>
      )}
      <Tabs defaultValue="documents" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="documents">Documents</Tabs.Tab>
          <Tabs.Tab value="runs">Runs</Tabs.Tab>
          <Tabs.Tab value="changes">Changed facts</Tabs.Tab>
          <Tabs.Tab value="improve">Improve</Tabs.Tab>
          <Tabs.Tab value="skills">Skills</Tabs.Tab>
          {mayShare ? <Tabs.Tab value="snapshots">Snapshots</Tabs.Tab> : null}
          {mayWrite ? <Tabs.Tab value="options">Options</Tabs.Tab> : null}
        </Tabs.List>
        <Tabs.Panel value="documents" pt="sm">
          <ItemTable dataset={id} />
        </Tabs.Panel>
        <Tabs.Panel value="runs" pt="sm">
          <RunTable dataset={id} />
        </Tabs.Panel>
        <Tabs.Panel value="changes" pt="sm">
          <Changes dataset={id} />
        </Tabs.Panel>
        <Tabs.Panel value="improve" pt="sm">
          <Improve dataset={id} />
        </Tabs.Panel>
        <Tabs.Panel value="skills" pt="sm">
          <Skills dataset={id} />
        </Tabs.Panel>
        <Tabs.Panel value="options" pt="sm">
          <Options dataset={id} />
        </Tabs.Panel>
        <Tabs.Panel value="snapshots" pt="sm">
          <Snapshots dataset={id} datasetName={name} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

function Facts({ dataset }: { readonly dataset: string }) {
  const progress = useQuery(progressQuery).data?.[dataset];
  const sizes = useQuery(sizesQuery(dataset)).data;
  const summary = useQuery({
    queryKey: ['summary', [dataset]],
    queryFn: () => engram.get('/api/v1/datasets/graph-summary', { query: { dataset_ids: [dataset] } }),
  }).data?.[0];
  if (sizes === undefined) return null;
  const size = sizes.rows.reduce((sum, { dataSize }) => sum + (dataSize ?? 0), 0);
  return (
    <Group gap="md">
      <Text size="sm" c="dimmed">
        {plural(sizes.total, 'document')}
        {sizes.total > MOST_SUMMED || sizes.total === 0 ? '' : ` · ${bytes(size)} of text`}
        {summary === undefined ? '' : ` · ${count(summary.numNodes)} nodes and ${count(summary.numEdges)} edges`}
      </Text>
      {isRunning(progress) ? null : <BuildState progress={progress} />}
    </Group>
  );
}

function DatasetMenu({ dataset }: { readonly dataset: Dataset }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const mayDelete = usePermitted('delete').has(dataset.id);
  const mayShare = usePermitted('share').has(dataset.id);
  const [isSharing, { open, close }] = useDisclosure();
  const remove = async () => {
    try {
      await engram.delete('/api/v1/datasets/{dataset_id}', { path: { dataset_id: dataset.id } });
      say(`${dataset.name} was deleted.`);
      await navigate({ to: '/datasets' });
      afterRun(client);
    } catch (error) {
      complain(error);
    }
  };
  const confirm = () =>
    askFirst({
      title: `Delete ${dataset.name}?`,
      text: 'All its documents, its graph and its snapshots are erased. This cannot be undone.',
      action: 'Delete the dataset',
      run: () => void remove(),
    });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={`More for ${dataset.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            component="a"
            href={address(`/activity/export/${dataset.id}`)}
            download
            leftSection={<IconDownload size={16} />}
          >
            Export as Markdown
          </Menu.Item>
          {mayShare ? (
            <Menu.Item leftSection={<IconShare size={16} />} onClick={open}>
              Share
            </Menu.Item>
          ) : null}
          {mayDelete ? (
            <Menu.Item leftSection={<IconTrash size={16} />} onClick={confirm}>
              Delete the dataset
            </Menu.Item>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={isSharing}
        onClose={close}
        size="xl"
        title={`Share ${dataset.name}`}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <PermissionMatrix datasets={[dataset]} />
      </Modal>
    </>
  );
}

/** Documents that could not be built, each with its reason. */
function Failures({ dataset }: { readonly dataset: string }) {
  const client = useQueryClient();
  const mayWrite = usePermitted('write').has(dataset);
  const items = useQuery(sizesQuery(dataset)).data?.rows ?? [];
  const failed = items.filter(({ failure }) => failure !== undefined);
  if (failed.length === 0) return null;
  const retry = async () => {
    const call = { path: { dataset_id: dataset }, body: { data_ids: failed.map(({ id }) => id) } };
    await attempt(() => engram.post('/api/v1/datasets/{dataset_id}/data/retry', call), 'They are tried again.');
    afterRun(client);
  };
  return (
    <Alert
      color="red"
      variant="outline"
      title={`${plural(failed.length, 'document')} could not be built`}
      styles={{ label: { color: 'var(--mantine-color-text)' } }}
    >
      <List listStyleType="none" spacing={4} mah={200} style={{ overflow: 'auto' }} tabIndex={0}>
        {failed.map((item) => (
          <List.Item key={item.id}>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              <b>{titleOf(item)}</b>: {item.failure?.message}
              {item.failure?.isSetAside ? ' It is set aside: builds pass over it.' : ''}
            </Text>
          </List.Item>
        ))}
      </List>
      {mayWrite ? (
        <Button size="compact-sm" variant="default" mt="xs" onClick={() => void retry()}>
          Try again
        </Button>
      ) : null}
    </Alert>
  );
}

interface Frame {
  readonly status: string;
  readonly current_stage?: string | null;
  readonly stage_index?: number | null;
  readonly stage_total?: number | null;
}

/**
 * Follows the run of a dataset over its socket: what it has reached is read again with each event, and when it ends. Returns
 * its stage. Where no socket can be had, the progress is still read each second.
 */
function useLiveRun(dataset: string, isRunning: boolean): Frame | null {
  const client = useQueryClient();
  const [frame, setFrame] = useState<Frame | null>(null);
  const run = useQuery({
    queryKey: ['runs', dataset, 'running'],
    queryFn: async () => {
      const query = { dataset_id: dataset, pipeline_name: 'cognify_pipeline', limit: 1 };
      const [newest] = await engram.get('/api/v1/activity/pipeline-runs', { query });
      return newest?.pipeline_run_id ?? null;
    },
    enabled: isRunning,
  }).data;
  useEffect(() => {
    if (!isRunning || typeof run !== 'string') return;
    const url = new URL(address(`/cognify/subscribe/${run}`), window.location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url);
    const readAgain = () => void client.invalidateQueries({ queryKey: ['progress'] });
    socket.onmessage = ({ data }) => {
      setFrame(JSON.parse(String(data)) as Frame);
      readAgain();
    };
    socket.onclose = readAgain;
    return () => {
      socket.onclose = null;
      socket.close();
      setFrame(null);
    };
  }, [isRunning, run, client]);
  return frame;
}
