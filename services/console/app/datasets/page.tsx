import {
  ActionIcon,
  Alert,
  Button,
  Group,
  Menu,
  Modal,
  Paper,
  Select,
  Stack,
  Tabs,
  Text,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { engram, messageOf } from '../api.ts';
import { bytes, count, plural } from '../format.ts';
import { IconDots, IconMessageQuestion, IconRefresh, IconShare, IconTopologyStar3, IconTrash } from '../icons.ts';
import {
  afterRun,
  type Dataset,
  datasetsQuery,
  isRunning,
  type Permission,
  progressQuery,
  readItems,
  usePermitted,
} from '../queries.ts';
import { RunTable } from '../runs.tsx';
import { LinkButton, PageTitle } from '../shell.tsx';
import { askFirst, complain, Empty, Failed, say, Waiting } from '../states.tsx';
import { AddPanel, build } from './add.tsx';
import { Changes } from './changes.tsx';
import { Improve } from './improve.tsx';
import { ItemTable } from './items.tsx';
import { Skills } from './skills.tsx';
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
          {progress?.error === undefined ? null : (
            <Text size="sm" mt={4}>
              {progress.error}
            </Text>
          )}
        </Paper>
      ) : null}
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
        <Tabs.Panel value="snapshots" pt="sm">
          <Snapshots dataset={id} datasetName={name} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

/** Beyond this the size is not added up. */
const MOST_SUMMED = 1000;

function Facts({ dataset }: { readonly dataset: string }) {
  const progress = useQuery(progressQuery).data?.[dataset];
  const sizes = useQuery({
    queryKey: ['items', dataset, 'sizes'],
    queryFn: () => readItems(dataset, { limit: MOST_SUMMED }),
  }).data;
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
  if (!mayDelete && !mayShare) return null;
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
      <ShareDialog dataset={dataset} opened={isSharing} onClose={close} />
    </>
  );
}

const PERMISSIONS: readonly { readonly value: Permission; readonly label: string }[] = [
  { value: 'read', label: 'read it and ask' },
  { value: 'write', label: 'add documents and build' },
  { value: 'delete', label: 'delete documents and the dataset' },
  { value: 'share', label: 'share it with others' },
];

function ShareDialog({
  dataset,
  opened,
  onClose,
}: {
  readonly dataset: Dataset;
  readonly opened: boolean;
  onClose(): void;
}) {
  const [email, setEmail] = useState('');
  const [permission, setPermission] = useState<string>('read');
  const [error, setError] = useState<string | null>(null);
  const change = async (method: 'post' | 'delete') => {
    setError(null);
    try {
      const body = { email: email.trim() };
      const { user_id: user } = await engram.post('/api/v1/users/get-user-id', { body });
      const grant = { path: { principal_id: user }, query: { permission_name: permission }, body: [dataset.id] };
      if (method === 'post') await engram.post('/api/v1/permissions/datasets/{principal_id}', grant);
      else await engram.delete('/api/v1/permissions/datasets/{principal_id}', grant);
      say(method === 'post' ? `${email} has the permission now.` : `${email} has this permission no longer.`);
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  const isEmpty = !/^\S+@\S+$/.test(email.trim());
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={`Share ${dataset.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <TextInput
          label="E-mail of an account"
          type="email"
          value={email}
          error={error}
          onChange={(event) => setEmail(event.currentTarget.value)}
          data-autofocus
        />
        <Select
          label="May"
          data={PERMISSIONS}
          value={permission}
          onChange={(value) => setPermission(value ?? 'read')}
          allowDeselect={false}
        />
        <Group justify="flex-end">
          <Button variant="default" disabled={isEmpty} onClick={() => void change('delete')}>
            Take away
          </Button>
          <Button disabled={isEmpty} onClick={() => void change('post')}>
            Share
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
