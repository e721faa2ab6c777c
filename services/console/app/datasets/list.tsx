import { Anchor, Button, Table, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { engram, messageOf } from '../api.ts';
import { ago, count } from '../format.ts';
import { FormDialog } from '../forms.tsx';
import { IconPlus } from '../icons.ts';
import { type Dataset, datasetsQuery, progressQuery } from '../queries.ts';
import { PageTitle } from '../shell.tsx';
import { Empty, Failed, Waiting } from '../states.tsx';
import { DataTable } from '../table.tsx';
import { BuildState } from './state.tsx';

export function DatasetsPage() {
  const datasets = useQuery(datasetsQuery);
  const [isNew, { open, close }] = useDisclosure();
  const create = (
    <Button leftSection={<IconPlus size={16} />} onClick={open}>
      New dataset
    </Button>
  );
  return (
    <>
      <PageTitle title="Datasets">{datasets.data?.length === 0 ? null : create}</PageTitle>
      {datasets.isPending ? <Waiting /> : null}
      {datasets.isError ? <Failed error={datasets.error} onRetry={() => void datasets.refetch()} /> : null}
      {datasets.data?.length === 0 ? (
        <Empty title="No datasets yet" action={create}>
          A dataset holds documents that belong together, and the graph that is built from them. Make one, drop your
          files into it, and ask.
        </Empty>
      ) : null}
      {datasets.data !== undefined && datasets.data.length > 0 ? <DatasetTable datasets={datasets.data} /> : null}
      <NewDataset opened={isNew} onClose={close} />
    </>
  );
}

function DatasetTable({ datasets }: { readonly datasets: readonly Dataset[] }) {
  const ids = datasets.map(({ id }) => id);
  const progress = useQuery(progressQuery).data;
  const summaries = useQuery({
    queryKey: ['summary', ids],
    queryFn: () => engram.get('/api/v1/datasets/graph-summary', { query: { dataset_ids: ids } }),
  }).data;
  const counts = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['counts', id],
      queryFn: () => engram.get('/api/v1/datasets/{dataset_id}/data/count', { path: { dataset_id: id } }),
    })),
  });
  return (
    <DataTable
      label="Datasets"
      minWidth={320}
      columns={[
        'Name',
        { head: 'Documents', ta: 'right' },
        { head: 'Nodes', ta: 'right', visibleFrom: 'sm' },
        { head: 'Edges', ta: 'right', visibleFrom: 'sm' },
        'State',
        { head: 'Built', visibleFrom: 'sm' },
      ]}
      highlightOnHover
      verticalSpacing="sm"
    >
      {datasets.map(({ id, name }, index) => {
        const summary = summaries?.find(({ datasetId }) => datasetId === id);
        return (
          <Table.Tr key={id}>
            <Table.Td maw={320}>
              <Anchor component={Link} to={`/datasets/${id}`} fw={500} style={{ overflowWrap: 'anywhere' }}>
                {name}
              </Anchor>
            </Table.Td>
            <Table.Td ta="right">{number(counts[index]?.data?.count)}</Table.Td>
            <Table.Td ta="right" visibleFrom="sm">
              {number(summary?.numNodes)}
            </Table.Td>
            <Table.Td ta="right" visibleFrom="sm">
              {number(summary?.numEdges)}
            </Table.Td>
            <Table.Td>
              <BuildState progress={progress?.[id]} />
            </Table.Td>
            <Table.Td visibleFrom="sm">{ago(summary?.computedAt)}</Table.Td>
          </Table.Tr>
        );
      })}
    </DataTable>
  );
}

const number = (value: number | undefined): string => (value === undefined ? '–' : count(value));

function NewDataset({ opened, onClose }: { readonly opened: boolean; onClose(): void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isSending, setSending] = useState(false);
  const known = useQuery(datasetsQuery).data ?? [];
  const form = useForm({
    initialValues: { name: '' },
    validate: {
      name: (value) => {
        if (value.trim() === '') return 'Give it a name';
        return known.some(({ name }) => name === value.trim()) ? 'There is a dataset of this name' : null;
      },
    },
  });
  const submit = form.onSubmit(async ({ name }) => {
    setSending(true);
    try {
      const { id } = await engram.post('/api/v1/datasets', { body: { name: name.trim() } });
      await client.invalidateQueries({ queryKey: ['datasets'] });
      void client.invalidateQueries({ queryKey: ['permitted'] });
      await navigate({ to: '/datasets/$dataset', params: { dataset: id } });
    } catch (error) {
      form.setFieldError('name', messageOf(error));
    } finally {
      setSending(false);
    }
  });
  return (
    <FormDialog
      title="New dataset"
      action="Create"
      opened={opened}
      isSending={isSending}
      onClose={onClose}
      onSubmit={submit}
    >
      <TextInput label="Name" placeholder="meeting-notes" data-autofocus {...form.getInputProps('name')} />
    </FormDialog>
  );
}
