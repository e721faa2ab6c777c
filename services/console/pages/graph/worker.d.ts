declare module '*?worker' {
  export const source: string;
}
