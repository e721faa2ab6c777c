/** Part of a structural schema that types and reference pages use. */
export interface CrdSchema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, CrdSchema>>;
  readonly additionalProperties?: CrdSchema;
  readonly items?: CrdSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[];
}

interface PrinterColumn {
  readonly name: string;
  readonly priority?: number;
  readonly description?: string;
}

/** Part of a file of `crds/` that is read here. */
export interface CustomResourceDefinition {
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly shortNames: readonly string[];
      readonly categories: readonly string[];
    };
    readonly versions: readonly {
      readonly name: string;
      readonly additionalPrinterColumns: readonly PrinterColumn[];
      readonly schema: { readonly openAPIV3Schema: CrdSchema };
    }[];
  };
}
