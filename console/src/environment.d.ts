// Modules that the bundler makes of other files.
declare module '*.css';
declare module '*?worker&url' {
  const url: string;
  export default url;
}
