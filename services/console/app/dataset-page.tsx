import { Select, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { datasetsQuery, useUsualDataset } from './queries.ts';
import { LinkButton, PageTitle } from './shell.tsx';
import { Empty, Failed, Waiting } from './states.tsx';

interface DatasetPickerPageProps {
  readonly title: string;
  /** Purpose of the page, where there is no dataset yet. */
  readonly about: string;
  /** From the address; the usual one when it names none. */
  readonly dataset: string | undefined;
  readonly children: (dataset: string) => ReactNode;
  onChange(dataset: string): void;
}

/** A page about one dataset that a person chooses. */
export function DatasetPickerPage({ title, about, dataset, children, onChange }: DatasetPickerPageProps) {
  const datasets = useQuery(datasetsQuery);
  const usual = useUsualDataset(datasets.data);
  if (datasets.isPending || usual === null) return <Waiting />;
  if (datasets.isError) return <Failed error={datasets.error} onRetry={() => void datasets.refetch()} />;
  const chosen = datasets.data.find(({ id }) => id === dataset) ?? usual;
  return (
    <Stack>
      <PageTitle title={title}>
        {chosen === undefined ? null : (
          <Select
            aria-label="Dataset"
            data={datasets.data.map(({ id, name }) => ({ value: id, label: name }))}
            value={chosen.id}
            onChange={(value) => onChange(value ?? '')}
            allowDeselect={false}
            searchable={datasets.data.length > 8}
          />
        )}
      </PageTitle>
      {chosen === undefined ? (
        <Empty title="No dataset yet" action={<LinkButton to="/datasets">Add the first documents</LinkButton>}>
          {about}
        </Empty>
      ) : (
        <div key={chosen.id}>{children(chosen.id)}</div>
      )}
    </Stack>
  );
}
