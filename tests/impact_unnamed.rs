//! Impact of code that names nothing: members read by computed names, operators and protocols that
//! run at import, instances that are only asked for members, classes that come as values.
//!
//! What no test reaches falls back to the tests that import its file; here only reach counts.

use crate::impact::answer;

/// The last parts of the ids of tests that a change reaches, sorted.
#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let answer = answer(source);
    let ids = answer.tests.iter().filter(|test| test.because != "imports");
    let name = |id: &'_ str| id.rsplit(['#', ':', '>']).next().map(|last| last.trim().to_string());
    let mut found: Vec<String> = ids.filter_map(|test| name(&test.id)).collect();
    found.sort_unstable();
    assert_eq!(found, expected, "{}", ratlas::impact::text::lines(&answer).join("\n"));
}

mod python {
    use super::check;

    #[test]
    fn getattr_on_self_with_a_computed_name() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Shop:
    def run(self, name):
        return getattr(self, 'do_' + name)()
    def do_buy(self):
-|        return 1
+|        return 2
class Other:
    def run(self):
        return 1
//- tests/test_shop.py
from p.shop import Shop, Other
def test_buy():
    assert Shop().run('buy') == 1
def test_none():
    assert Other().run()
";
        check(source, &["test_buy"]);
    }

    #[test]
    fn getattr_on_a_typed_parameter() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Shop:
    def do_buy(self):
-|        return 1
+|        return 2
//- p/call.py
from p.shop import Shop
def call(shop: Shop, name):
    f = getattr(shop, name)
    return f()
//- tests/test_shop.py
from p.shop import Shop
from p.call import call
def test_buy():
    assert call(Shop(), 'do_' + 'buy') == 1
def test_none():
    assert True
";
        check(source, &["test_buy"]);
    }

    #[test]
    fn getattr_on_a_module() {
        let source = r"
//- p/__init__.py
//- p/shop.py
def do_buy():
-|    return 1
+|    return 2
//- tests/test_shop.py
from p import shop
def test_buy():
    assert getattr(shop, 'do_' + 'buy')() == 1
def test_none():
    assert True
";
        check(source, &["test_buy"]);
    }

    #[test]
    fn globals_by_name() {
        let source = r"
//- p/__init__.py
//- p/shop.py
def do_buy():
-|    return 1
+|    return 2
def call(name):
    return globals()['do_' + name]()
//- tests/test_shop.py
from p import shop
def test_buy():
    assert shop.call('buy') == 1
def test_none():
    assert True
";
        check(source, &["test_buy"]);
    }

    #[test]
    fn vars_of_a_class_by_name() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Shop:
    def do_buy(self):
-|        return 1
+|        return 2
def call(name):
    return Shop.__dict__['do_' + name](Shop())
//- tests/test_shop.py
from p import shop
def test_buy():
    assert shop.call('buy') == 1
def test_none():
    assert True
";
        check(source, &["test_buy"]);
    }

    #[test]
    fn operator_at_module_level() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Op:
    def __or__(self, other):
-|        return 1
+|        raise ValueError
Z = Op() | Op()
def f():
    return 1
//- tests/test_shop.py
from p.shop import f
def test_buy():
    assert f() == 1
def test_any():
    assert True
";
        check(source, &["test_any", "test_buy"]);
    }

    #[test]
    fn with_at_module_level() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Op:
    def __enter__(self):
-|        return 1
+|        raise ValueError
    def __exit__(self, *a):
        return None
with Op() as z:
    Y = 1
def f():
    return 1
//- tests/test_shop.py
from p.shop import f
def test_buy():
    assert f() == 1
def test_any():
    assert True
";
        check(source, &["test_any", "test_buy"]);
    }

    #[test]
    fn loop_at_module_level() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Op:
    def __iter__(self):
-|        return iter([1])
+|        raise ValueError
for z in Op():
    pass
Y = [a for a in Op()]
def f():
    return 1
//- tests/test_shop.py
from p.shop import f
def test_buy():
    assert f() == 1
def test_any():
    assert True
";
        check(source, &["test_any", "test_buy"]);
    }

    #[test]
    fn unpacking_at_module_level() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Op:
    def __iter__(self):
-|        return iter([1, 2])
+|        raise ValueError
a, b = Op()
def f():
    return 1
//- tests/test_shop.py
from p.shop import f
def test_buy():
    assert f() == 1
def test_any():
    assert True
";
        check(source, &["test_any", "test_buy"]);
    }

    #[test]
    fn property_of_a_kept_instance_at_module_level() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Op:
    @property
    def size(self):
-|        return 1
+|        raise ValueError
o = Op()
Y = o.size
def f():
    return 1
//- tests/test_shop.py
from p.shop import f
def test_buy():
    assert f() == 1
def test_any():
    assert True
";
        check(source, &["test_any", "test_buy"]);
    }

    #[test]
    fn format_string_at_module_level() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Op:
    def __str__(self):
-|        return 'a'
+|        raise ValueError
Y = f'{Op()}'
def f():
    return 1
//- tests/test_shop.py
from p.shop import f
def test_buy():
    assert f() == 1
def test_any():
    assert True
";
        check(source, &["test_any", "test_buy"]);
    }

    #[test]
    fn operator_in_class_body() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Op:
    def __or__(self, other):
-|        return 1
+|        raise ValueError
class K:
    z = Op() | Op()
def f():
    return 1
//- tests/test_shop.py
from p.shop import f
def test_buy():
    assert f() == 1
def test_any():
    assert True
";
        check(source, &["test_any", "test_buy"]);
    }

    #[test]
    fn imported_instance_operator() {
        let source = r"
//- p/__init__.py
//- p/op.py
class Op:
    def __or__(self, other):
-|        return 1
+|        raise ValueError
a = Op()
//- p/shop.py
from p.op import a
Z = a | a
def f():
    return 1
//- tests/test_shop.py
from p.shop import f
def test_buy():
    assert f() == 1
def test_any():
    assert True
";
        check(source, &["test_any", "test_buy"]);
    }

    #[test]
    fn instance_handed_to_function_at_import() {
        let source = r"
//- p/__init__.py
//- p/op.py
class Op:
    def __len__(self):
-|        return 1
+|        raise ValueError
def size(x):
    return len(x)
//- p/shop.py
from p.op import Op, size
Z = size(Op())
def f():
    return 1
//- tests/test_shop.py
from p.shop import f
def test_buy():
    assert f() == 1
def test_any():
    assert True
";
        check(source, &["test_any", "test_buy"]);
    }

    #[test]
    fn operator_within_function_only() {
        let source = r"
//- p/__init__.py
//- p/op.py
class Op:
    def __or__(self, other):
-|        return 1
+|        raise ValueError
a = Op()
def use():
    return a | a
def f():
    return 1
//- tests/test_shop.py
from p.op import f, use
def test_buy():
    assert f() == 1
def test_op():
    assert use() == 1
";
        check(source, &["test_op"]);
    }

    #[test]
    fn methodcaller_and_attrgetter() {
        let source = r"
//- p/__init__.py
//- p/shop.py
class Shop:
    def do_buy(self):
-|        return 1
+|        return 2
//- tests/test_shop.py
from operator import methodcaller
from p.shop import Shop
def test_buy():
    assert methodcaller('do_buy')(Shop()) == 1
def test_none():
    assert True
";
        check(source, &["test_buy"]);
    }

    #[test]
    fn call_protocol_of_a_maker_that_only_asks() {
        let source = r"
//- p/__init__.py
//- p/app.py
class App:
    def __call__(self):
-|        return 1
+|        return 2
    def size(self):
        return 1
    def run(self):
        return serve(self)
def serve(app):
    return app()
//- tests/test_app.py
from p.app import App, serve
def test_ask():
    app = App()
    assert app.size() == 1
    app.name = 'a'
def test_call():
    app = App()
    assert app() == 1
def test_hand():
    app = App()
    serve(app)
def test_leak():
    app = App()
    app.run()
def make():
    app = App()
    return app
def test_ret():
    make()()
";
        check(source, &["test_call", "test_hand", "test_leak", "test_ret"]);
    }

    #[test]
    fn truth_of_an_instance() {
        let source = r"
//- p/__init__.py
//- p/app.py
class App:
    def __bool__(self):
-|        return True
+|        return False
    def size(self):
        return 1
//- tests/test_app.py
from p.app import App
def test_ask():
    app = App()
    assert app.size() == 1
def test_if():
    app = App()
    app.size()
    if app:
        pass
";
        check(source, &["test_if"]);
    }

    #[test]
    fn override_assigned_in_an_instance_of_a_class_below() {
        let source = r"
//- p/__init__.py
//- p/app.py
class App:
    @property
    def debug(self):
        return 1
    @debug.setter
    def debug(self, value):
-|        self.a = value
+|        self.b = value
    def on(self):
        self.debug = True
class Sub(App):
    def run(self):
        self.debug = False
//- tests/test_app.py
from p.app import Sub
def test_base():
    Sub().on()
def test_none():
    assert Sub
";
        check(source, &["test_base"]);
    }

    #[test]
    fn class_that_comes_as_a_value() {
        let source = r"
//- p/__init__.py
//- p/app.py
class Tag:
    def check(self):
-|        return 1
+|        return 2
class One(Tag):
    def check(self):
        return 3
class Holder:
    kind: type[Tag] = One
    def make(self):
        tag: Tag = self.kind()
        return tag.check()
//- tests/test_one.py
from p.app import Holder
def test_one():
    Holder().make()
//- tests/test_two.py
from p.app import Holder, Tag
class Mine(Holder):
    kind = Tag
def test_two():
    Mine().make()
";
        check(source, &["test_two"]);
    }

    #[test]
    fn what_a_module_s_hook_gives_back() {
        let source = r"
//- p/__init__.py
def __getattr__(name):
    if name == 'Old':
        from .core import New
        return New
    raise AttributeError(name)
//- p/core.py
class New:
    def __len__(self):
-|        return 1
+|        return 2
//- tests/test_old.py
from p import Old
def test_old():
    assert len(Old()) == 1
//- tests/test_old_attr.py
import p
def test_old_attr():
    assert len(p.Old()) == 1
//- tests/test_other.py
import p
def test_other():
    assert p
";
        check(source, &["test_old", "test_old_attr"]);
    }
}

mod typescript {
    use super::check;

    #[test]
    fn computed_call_on_this() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/shop.ts
export class Shop {
  run(name: string) { return (this as any)['do' + name]() }
  doBuy() {
-|    return 1
+|    return 2
  }
}
export class Other { run() { return 1 } }
//- test/shop.test.ts
import { test } from 'vitest'
import { Shop, Other } from '../src/shop'
test('buys', () => { new Shop().run('Buy') })
test('none', () => { new Other().run() })
"#;
        check(source, &["buys"]);
    }

    #[test]
    fn computed_call_on_typed_value() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/shop.ts
export class Shop {
  doBuy() {
-|    return 1
+|    return 2
  }
}
//- src/call.ts
import type { Shop } from './shop'
export function call(shop: Shop, name: keyof Shop) { return shop[name]() }
//- test/shop.test.ts
import { test } from 'vitest'
import { Shop } from '../src/shop'
import { call } from '../src/call'
test('buys', () => { call(new Shop(), 'doBuy') })
test('none', () => { })
"#;
        check(source, &["buys"]);
    }

    #[test]
    fn computed_call_on_namespace() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/shop.ts
export function doBuy() {
-|  return 1
+|  return 2
}
//- src/call.ts
import * as shop from './shop'
export function call(name: string) { const f = (shop as any)[name]; return f() }
//- test/shop.test.ts
import { test } from 'vitest'
import { call } from '../src/call'
test('buys', () => { call('doBuy') })
test('none', () => { })
"#;
        check(source, &["buys"]);
    }

    #[test]
    fn destructured_getter_at_import() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/shop.ts
class Config {
  get port() {
-|    return 1
+|    throw new Error()
  }
}
const { port } = new Config()
export function f() { return 1 }
//- test/shop.test.ts
import { test } from 'vitest'
import { f } from '../src/shop'
test('buys', () => { f() })
test('none', () => { })
"#;
        check(source, &["buys", "none"]);
    }

    #[test]
    fn destructured_getter_of_a_kept_instance() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/config.ts
export class Config {
  get port() {
-|    return 1
+|    throw new Error()
  }
}
export const config = new Config()
//- src/shop.ts
import { config } from './config'
export const { port } = config
export function f() { return 1 }
//- test/shop.test.ts
import { test } from 'vitest'
import { f } from '../src/shop'
test('buys', () => { f() })
test('none', () => { })
"#;
        check(source, &["buys", "none"]);
    }

    #[test]
    fn getter_at_import() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/shop.ts
class Config {
  get port() {
-|    return 1
+|    throw new Error()
  }
}
const config = new Config()
const port = config.port
export function f() { return 1 }
//- test/shop.test.ts
import { test } from 'vitest'
import { f } from '../src/shop'
test('buys', () => { f() })
test('none', () => { })
"#;
        check(source, &["buys", "none"]);
    }

    #[test]
    fn iteration_at_import() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/shop.ts
class It {
  *[Symbol.iterator]() {
-|    yield 1
+|    throw new Error()
  }
}
const all = [...new It()]
export function g() { return 1 }
//- test/shop.test.ts
import { test } from 'vitest'
import { g } from '../src/shop'
test('buys', () => { g() })
test('none', () => { g() })
"#;
        check(source, &["buys", "none"]);
    }

    #[test]
    fn template_of_an_instance_at_import() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/shop.ts
class It {
  toString() {
-|    return 'a'
+|    throw new Error()
  }
}
const it = new It()
const s = `${it}`
export function g() { return 1 }
//- test/shop.test.ts
import { test } from 'vitest'
import { g } from '../src/shop'
test('buys', () => { g() })
test('none', () => { g() })
"#;
        check(source, &["buys", "none"]);
    }

    #[test]
    fn function_put_into_what_a_decorator_was_given() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/plain.ts
export function Plain(): MethodDecorator {
  return function (target: any, key: any, descriptor: any): void {
    const original = descriptor.value
    descriptor.value = function (...args: any[]): any {
-|      return original.apply(this, args)
+|      throw new Error()
    }
  }
}
export function g() { return 1 }
//- src/shop.ts
import { Plain } from './plain'
export class Shop {
  @Plain()
  buy() { return 1 }
}
//- test/shop.test.ts
import { test } from 'vitest'
import { Shop } from '../src/shop'
test('buys', () => { new Shop().buy() })
//- test/g.test.ts
import { test } from 'vitest'
import { g } from '../src/plain'
test('none', () => { g() })
"#;
        check(source, &["buys"]);
    }

    #[test]
    fn method_of_a_class_that_implements_an_alias() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/queue.ts
export type Queue = { enqueue: (x: number) => void; size(): number }
//- src/a.ts
import type { Queue } from './queue'
export class A implements Queue {
  enqueue(x: number): void {
-|    this.size()
+|    throw new Error()
  }
  size() { return 1 }
}
//- src/use.ts
import type { Queue } from './queue'
export function use(q: Queue) { q.enqueue(1) }
//- test/use.test.ts
import { test } from 'vitest'
import { A } from '../src/a'
import { use } from '../src/use'
test('uses', () => { use(new A()) })
test('none', () => { new A().size() })
"#;
        check(source, &["uses"]);
    }

    #[test]
    fn object_literal_by_key() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/shop.ts
const handlers: Record<string, () => number> = {
  buy() {
-|    return 1
+|    return 2
  },
}
export function run(name: string) { return handlers[name]() }
export function g() { return 1 }
//- test/shop.test.ts
import { test } from 'vitest'
import { run, g } from '../src/shop'
test('buys', () => { run('buy') })
test('none', () => { g() })
"#;
        check(source, &["buys"]);
    }

    #[test]
    fn enumerate_namespace() {
        let source = r#"
//- package.json
{"devDependencies":{"vitest":"1"}}
//- src/rules.ts
export function one() {
-|  return 1
+|  return 2
}
//- src/shop.ts
import * as rules from './rules'
export function run() { return Object.values(rules).map(r => r()) }
export function g() { return 1 }
//- test/shop.test.ts
import { test } from 'vitest'
import { run, g } from '../src/shop'
test('buys', () => { run() })
test('none', () => { g() })
"#;
        check(source, &["buys"]);
    }
}

mod java {
    use super::check;

    #[test]
    fn reflection_by_computed_name() {
        let source = r#"
//- pom.xml
<project/>
//- src/main/java/p/Shop.java
package p;
public class Shop {
  public int buy() {
-|    return 1;
+|    return 2;
  }
}
//- src/test/java/p/ShopTest.java
package p;
import org.junit.jupiter.api.Test;
class ShopTest {
  @Test void buys() throws Exception { call("b" + "uy"); }
  @Test void none() { }
  static Object call(String name) throws Exception { return Shop.class.getMethod(name).invoke(new Shop()); }
}
"#;
        check(source, &["buys"]);
    }

    #[test]
    fn reflection_over_all() {
        let source = r"
//- pom.xml
<project/>
//- src/main/java/p/Shop.java
package p;
public class Shop {
  public int buy() {
-|    return 1;
+|    return 2;
  }
}
//- src/test/java/p/ShopTest.java
package p;
import org.junit.jupiter.api.Test;
import java.lang.reflect.Method;
class ShopTest {
  @Test void buys() throws Exception { for (Method m : Shop.class.getDeclaredMethods()) m.invoke(new Shop()); }
  @Test void none() { }
}
";
        check(source, &["buys"]);
    }

    #[test]
    fn getclass_by_computed_name() {
        let source = r#"
//- pom.xml
<project/>
//- src/main/java/p/Shop.java
package p;
public class Shop {
  public int buy() {
-|    return 1;
+|    return 2;
  }
}
//- src/test/java/p/ShopTest.java
package p;
import org.junit.jupiter.api.Test;
class ShopTest {
  @Test void buys() throws Exception { call(new Shop(), "b" + "uy"); }
  @Test void none() { }
  static Object call(Shop shop, String name) throws Exception { return shop.getClass().getMethod(name).invoke(shop); }
}
"#;
        check(source, &["buys"]);
    }

    #[test]
    fn literal_name() {
        let source = r#"
//- pom.xml
<project/>
//- src/main/java/p/Shop.java
package p;
public class Shop {
  public int buy() {
-|    return 1;
+|    return 2;
  }
}
//- src/test/java/p/ShopTest.java
package p;
import org.junit.jupiter.api.Test;
class ShopTest {
  @Test void buys() throws Exception { Shop.class.getMethod("buy").invoke(new Shop()); }
  @Test void none() { }
}
"#;
        check(source, &["buys"]);
    }

    #[test]
    fn static_initializer_by_concatenation() {
        let source = r#"
//- pom.xml
<project/>
//- src/main/java/p/Op.java
package p;
public class Op {
  public String toString() {
-|    return "a";
+|    throw new RuntimeException();
  }
}
//- src/main/java/p/Shop.java
package p;
public class Shop {
  static final Op OP = new Op();
  static final String NAME = "x" + OP;
  public static int buy() { return 1; }
}
//- src/test/java/p/ShopTest.java
package p;
import org.junit.jupiter.api.Test;
class ShopTest {
  @Test void buys() { Shop.buy(); }
  @Test void none() { }
}
"#;
        check(source, &["buys"]);
    }

    #[test]
    fn override_in_a_test_file_stays_there() {
        let source = r"
//- pom.xml
<project/>
//- src/main/java/p/Adapter.java
package p;
public abstract class Adapter {
  public abstract int read();
}
//- src/main/java/p/Gson.java
package p;
public class Gson {
  public int from(Adapter a) { return a.read(); }
}
//- src/test/java/p/OwnTest.java
package p;
import org.junit.jupiter.api.Test;
class OwnTest {
  @Test void own() {
    new Gson().from(new Adapter() {
      public int read() {
-|        return 1;
+|        return 2;
      }
    });
  }
}
//- src/test/java/p/OtherTest.java
package p;
import org.junit.jupiter.api.Test;
class OtherTest {
  static class Mine extends Adapter { public int read() { return 3; } }
  @Test void other() { new Gson().from(new Mine()); }
}
";
        check(source, &["own"]);
    }

    #[test]
    fn named_override_in_a_test_file_stays_there() {
        let source = r"
//- pom.xml
<project/>
//- src/main/java/p/Adapter.java
package p;
public abstract class Adapter {
  public abstract int read();
}
//- src/main/java/p/Gson.java
package p;
public class Gson {
  public int from(Adapter a) { return a.read(); }
}
//- src/test/java/p/OwnTest.java
package p;
import org.junit.jupiter.api.Test;
class OwnTest {
  static class Mine extends Adapter {
    public int read() {
-|        return 1;
+|        return 2;
    }
  }
  @Test void own() { new Gson().from(new Mine()); }
}
//- src/test/java/p/OtherTest.java
package p;
import org.junit.jupiter.api.Test;
class OtherTest {
  static class Mine extends Adapter { public int read() { return 3; } }
  @Test void other() { new Gson().from(new Mine()); }
}
";
        check(source, &["own"]);
    }

    #[test]
    fn overload_beside_an_inherited_method() {
        let source = r#"
//- pom.xml
<project/>
//- src/main/java/p/Encoder.java
package p;
public interface Encoder { Object encode(Object x); }
//- src/main/java/p/Base.java
package p;
public abstract class Base implements Encoder {
  public Object encode(Object x) {
-|    return 1;
+|    return 2;
  }
}
//- src/main/java/p/One.java
package p;
public class One extends Base {
  public String encode(String x) { return x; }
}
//- src/test/java/p/OneTest.java
package p;
import org.junit.jupiter.api.Test;
class OneTest {
  @Test void works() { Encoder e = new One(); e.encode((Object) "a"); }
  @Test void none() { }
}
"#;
        check(source, &["works"]);
    }
}
