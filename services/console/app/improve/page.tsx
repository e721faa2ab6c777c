import { Title } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { DatasetPickerPage } from '../dataset-page.tsx';
import { RunTable } from '../runs.tsx';
import { Improve } from './improve.tsx';

export function ImprovePage() {
  const { dataset } = useSearch({ from: '/improve' });
  const navigate = useNavigate({ from: '/improve' });
  return (
    <DatasetPickerPage
      title="Improve"
      about="Improve lets a dataset learn from conversations: what people stated, and which answers they rated well or badly."
      dataset={dataset}
      onChange={(chosen) => void navigate({ search: { dataset: chosen } })}
    >
      {(id) => (
        <>
          <Improve dataset={id} />
          <section aria-label="Earlier improves">
            <Title order={2} size="h4" mt="lg" mb="xs">
              Earlier improves
            </Title>
            <RunTable dataset={id} pipeline="improve" />
          </section>
        </>
      )}
    </DatasetPickerPage>
  );
}
