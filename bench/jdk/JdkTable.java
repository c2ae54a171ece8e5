import java.lang.reflect.*;
import java.net.URI;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

/**
 * Prints the table that `src/graph/builtins/jdk.rs` reads: the public types of the JDK's common packages with what they
 * extend, and of their methods the name, the parameters (only their number where they carry no type variable and take no
 * function) and the result. Run: `java bench/jdk/JdkTable.java > src/graph/builtins/jdk.txt`.
 */
public class JdkTable {
  static final List<String> PACKAGES = List.of("java.lang", "java.util", "java.util.function", "java.util.stream",
      "java.util.concurrent", "java.io", "java.nio.file", "java.lang.reflect", "java.util.concurrent.atomic",
      "java.util.concurrent.locks", "java.util.regex", "java.time", "java.math", "java.net", "java.nio",
      "java.nio.charset", "java.text", "java.time.format", "java.time.temporal", "java.lang.annotation", "java.lang.invoke",
      "java.lang.ref");
  static final Map<String, Class<?>> TYPES = new TreeMap<>();

  public static void main(String[] args) throws Exception {
    FileSystem jrt = FileSystems.getFileSystem(URI.create("jrt:/"));
    // The first of a name wins: types of their own before nested ones, packages by how common they are.
    for (String pkg : PACKAGES) collect(jrt, pkg, false);
    for (String pkg : PACKAGES) collect(jrt, pkg, true);
    StringBuilder out = new StringBuilder();
    for (Class<?> type : TYPES.values()) print(type, out);
    System.out.print(out);
  }

  static void collect(FileSystem jrt, String pkg, boolean nested) throws Exception {
    Path dir = jrt.getPath("/modules/java.base/" + pkg.replace('.', '/'));
    List<Path> files;
    try (Stream<Path> all = Files.list(dir)) {
      files = all.sorted(Comparator.comparing(Path::toString)).toList();
    }
    for (Path file : files) {
      String name = file.getFileName().toString();
      if (!name.endsWith(".class") || name.contains("-") || name.contains("$") != nested) continue;
      Class<?> type = Class.forName(pkg + "." + name.substring(0, name.length() - 6), false, ClassLoader.getSystemClassLoader());
      boolean open = true;
      for (Class<?> c = type; c != null; c = c.getEnclosingClass()) {
        open &= Modifier.isPublic(c.getModifiers()) || Modifier.isProtected(c.getModifiers());
      }
      if (open && !type.isAnonymousClass() && !type.isAnnotation()) TYPES.putIfAbsent(type.getSimpleName(), type);
    }
  }

  static boolean known(Class<?> type) {
    return TYPES.get(type.getSimpleName()) == type;
  }

  static void print(Class<?> type, StringBuilder out) {
    Scope scope = new Scope(type.getTypeParameters(), new TypeVariable<?>[0]);
    List<String> bases = new ArrayList<>();
    Type base = type.getGenericSuperclass();
    List<Type> faces = new ArrayList<>(List.of(type.getGenericInterfaces()));
    while (base != null && !known(raw(base))) {
      faces.addAll(List.of(raw(base).getGenericInterfaces()));
      base = raw(base).getGenericSuperclass();
    }
    if (base != null && base != Object.class) bases.add(text(base, scope));
    for (Type face : new LinkedHashSet<>(faces)) if (known(raw(face)) && !bases.contains(text(face, scope))) bases.add(text(face, scope));
    Method single = single(type);
    String kind = single != null ? "l" : type.isInterface() ? "i" : Modifier.isFinal(type.getModifiers()) || type.isEnum() ? "f" : "c";
    out.append(kind).append(' ').append(type.getSimpleName()).append(' ').append(type.getTypeParameters().length);
    out.append(' ').append(String.join(" ", bases)).append('\n');
    Map<String, TreeSet<String>> fields = new TreeMap<>();
    for (Field field : type.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers()) || !Modifier.isPublic(field.getModifiers())) continue;
      String own = text(field.getGenericType(), scope);
      if (!own.equals(type.getSimpleName())) fields.computeIfAbsent(own, k -> new TreeSet<>()).add(field.getName());
    }
    fields.forEach((own, names) -> out.append("=").append(own).append(' ').append(String.join(" ", names)).append('\n'));
    Map<String, TreeSet<String>> rows = new TreeMap<>();
    for (Method method : type.getDeclaredMethods()) {
      if (!Modifier.isPublic(method.getModifiers()) && !Modifier.isProtected(method.getModifiers())) continue;
      if (method.isSynthetic() || method.isBridge()) continue;
      if (!method.equals(single) && inherited(type, method)) continue;
      row(method, type, method.equals(single), rows);
    }
    rows.forEach((head, names) -> out.append(head).append(' ').append(String.join(" ", names)).append('\n'));
  }

  /** Adds a method to those of equal parameters and result. */
  static void row(Method method, Class<?> type, boolean single, Map<String, TreeSet<String>> rows) {
    boolean isStatic = Modifier.isStatic(method.getModifiers());
    Scope scope = new Scope(type.getTypeParameters(), method.getTypeParameters());
    List<String> params = new ArrayList<>();
    boolean telling = single;
    for (Type param : method.getGenericParameterTypes()) {
      String text = text(param, scope);
      params.add(text);
      telling |= text.contains("%") || text.contains("#") || single(raw(param)) != null && known(raw(param)) && raw(param).isInterface() && !text.equals("Comparable") && raw(param).getPackageName().startsWith("java.util");
    }
    String list = telling ? "(" + String.join(" ", params) + ")" : String.valueOf(params.size());
    String name = method.getName() + (single ? "!" : "") + (isStatic ? "^" : "") + (method.isVarArgs() ? "*" : "");
    rows.computeIfAbsent(list + " " + text(method.getGenericReturnType(), scope), k -> new TreeSet<>()).add(name);
  }

  /** Whether a base in the table has the method with an equal erased result. */
  static boolean inherited(Class<?> type, Method method) {
    if (Modifier.isStatic(method.getModifiers())) return false;
    for (Class<?> base : bases(type, new LinkedHashSet<>())) {
      for (Method other : base.getDeclaredMethods()) {
        if (other.getName().equals(method.getName()) && Arrays.equals(other.getParameterTypes(), method.getParameterTypes())
            && other.getReturnType() == method.getReturnType() && known(base) && !Modifier.isPrivate(other.getModifiers())
            && (other.getGenericReturnType().equals(method.getGenericReturnType()) || method.getGenericReturnType() instanceof TypeVariable
                || method.getReturnType().getTypeParameters().length == 0 || !base.getPackageName().isEmpty() && method.getTypeParameters().length == 0)) return true;
      }
    }
    return false;
  }

  static Set<Class<?>> bases(Class<?> type, Set<Class<?>> found) {
    if (type.getSuperclass() != null && found.add(type.getSuperclass())) bases(type.getSuperclass(), found);
    for (Class<?> face : type.getInterfaces()) if (found.add(face)) bases(face, found);
    if (type.isInterface()) found.add(Object.class);
    return found;
  }

  /** The one method that a lambda for an interface gives. */
  static Method single(Class<?> type) {
    if (!type.isInterface()) return null;
    Map<String, Method> found = new LinkedHashMap<>();
    for (Method method : type.getMethods()) {
      if (!Modifier.isAbstract(method.getModifiers())) continue;
      boolean ofObject = false;
      for (Method other : Object.class.getMethods()) {
        ofObject |= other.getName().equals(method.getName()) && Arrays.equals(other.getParameterTypes(), method.getParameterTypes());
      }
      if (!ofObject) found.putIfAbsent(method.getName() + Arrays.toString(method.getParameterTypes()), method);
    }
    return found.size() == 1 ? found.values().iterator().next() : null;
  }

  record Scope(TypeVariable<?>[] own, TypeVariable<?>[] method) {}

  static Class<?> raw(Type type) {
    if (type instanceof Class<?> c) return c;
    if (type instanceof ParameterizedType p) return raw(p.getRawType());
    if (type instanceof GenericArrayType g) return Object[].class;
    if (type instanceof TypeVariable<?> v) return raw(v.getBounds()[0]);
    if (type instanceof WildcardType w) return raw(w.getUpperBounds()[0]);
    return Object.class;
  }

  static String text(Type type, Scope scope) {
    if (type instanceof Class<?> c) {
      if (c.isArray()) return text(c.getComponentType(), scope) + "[]";
      return c.getSimpleName();
    }
    if (type instanceof GenericArrayType g) return text(g.getGenericComponentType(), scope) + "[]";
    if (type instanceof ParameterizedType p) {
      return raw(p).getSimpleName() + Arrays.stream(p.getActualTypeArguments()).map(a -> text(a, scope)).collect(Collectors.joining(",", "<", ">"));
    }
    if (type instanceof WildcardType w) {
      if (w.getLowerBounds().length > 0) return text(w.getLowerBounds()[0], scope);
      return w.getUpperBounds()[0] == Object.class ? "?" : text(w.getUpperBounds()[0], scope);
    }
    if (type instanceof TypeVariable<?> v) {
      for (int at = 0; at < scope.own.length; at++) if (scope.own[at].equals(v)) return "#" + at;
      for (int at = 0; at < scope.method.length; at++) if (scope.method[at].equals(v)) return "%" + at;
    }
    return "?";
  }
}
