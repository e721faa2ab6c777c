import { MultiSelect, Select } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { datasetsQuery, type Permission } from '../queries.ts';

/** Limits of a key, as a person chooses them: nothing chosen is no limit. */
export interface KeyLimits {
  /** Seconds; empty: no end. */
  life: string | null;
  permissions: Permission[];
  datasets: string[];
}

const DAY = 86_400;
const LIVES = [
  { value: String(30 * DAY), label: '30 days' },
  { value: String(90 * DAY), label: '90 days' },
  { value: String(365 * DAY), label: 'a year' },
  { value: '', label: 'until it is deleted' },
];
export const PERMISSIONS: readonly Permission[] = ['read', 'write', 'delete', 'share'];

export const DEFAULT_LIMITS: KeyLimits = { life: String(90 * DAY), permissions: [], datasets: [] };

/** Fields of a form for the limits of a key. */
export function LimitFields<Values extends KeyLimits>({ form }: { readonly form: UseFormReturnType<Values> }) {
  const datasets = useQuery(datasetsQuery).data ?? [];
  const { permissions, datasets: chosen } = form.values;
  return (
    <>
      <Select label="Valid for" data={LIVES} allowDeselect={false} {...form.getInputProps('life')} />
      <MultiSelect
        label="May"
        placeholder={permissions.length === 0 ? 'Everything you may' : ''}
        data={PERMISSIONS}
        {...form.getInputProps('permissions')}
      />
      <MultiSelect
        label="In the datasets"
        placeholder={chosen.length === 0 ? 'All' : ''}
        data={datasets.map(({ id, name }) => ({ value: id, label: name }))}
        searchable
        {...form.getInputProps('datasets')}
      />
    </>
  );
}

/** The limits as the API takes them. */
export function limitsOf({ life, permissions, datasets }: KeyLimits) {
  return {
    lifetime: life ? Number(life) : null,
    ...(permissions.length === 0 ? {} : { permissions }),
    ...(datasets.length === 0 ? {} : { datasets }),
  };
}
