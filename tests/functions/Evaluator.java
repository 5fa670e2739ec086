// Evaluates one bound expression of Spark's over many rows, and gives back one line of JSON.
// Spark's own Janino compiles it, see oracle.py; Janino knows neither lambdas nor diamonds.

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkThrowable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.*;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;
import scala.collection.mutable.ListBuffer;

public class Evaluator {
  private final InternalRow[] values;
  private final StructType schema;

  /** values: every column's values, one below the other, as the rows of one table. */
  public Evaluator(InternalRow[] values, StructType schema) {
    this.values = values;
    this.schema = schema;
  }

  /**
   * plan: projections over the table. picks: for each row, and each of the columns read, which of
   * its values; all of them in one text, separated by commas.
   */
  public String evaluate(LogicalPlan plan, DataType type, String columns, String picks) {
    int[] read = numbers(columns);
    int[] picked = numbers(picks);
    int rows = read.length == 0 ? 1 : picked.length / read.length;
    List steps = steps(plan);
    StringBuilder out = new StringBuilder("[");
    for (int row = 0; row < rows; row++) {
      if (row > 0) out.append(',');
      try {
        out.append(one(steps, type, input(read, picked, row * read.length)));
      } catch (Throwable failure) {
        out.append("{\"!\":" + quoted(reason(failure)) + "}");
        steps = steps(plan); // some expressions are left in the midst of what they did
      }
    }
    return out.append(']').toString();
  }

  /** Generated code of each projection, each over what the one before it gives. */
  private static List steps(LogicalPlan plan) {
    if (plan.children().isEmpty()) return new ArrayList();
    LogicalPlan below = (LogicalPlan) plan.children().head();
    List made = steps(below);
    ListBuffer copies = new ListBuffer();
    for (Iterator each = plan.expressions().iterator(); each.hasNext();)
      copies.addOne(((TreeNode) each.next()).clone());
    made.add(UnsafeProjection.create(copies.toSeq(), below.output()));
    return made;
  }

  private static int[] numbers(String text) {
    if (text.isEmpty()) return new int[0];
    String[] parts = text.split(",");
    int[] made = new int[parts.length];
    for (int at = 0; at < parts.length; at++) made[at] = Integer.parseInt(parts[at]);
    return made;
  }

  private InternalRow input(int[] columns, int[] picked, int from) {
    Object[] row = new Object[schema.fields().length];
    for (int at = 0; at < columns.length; at++) {
      int column = columns[at];
      row[column] = values[picked[from + at]].get(column, schema.fields()[column].dataType());
    }
    return new GenericInternalRow(row);
  }

  private static String one(List steps, DataType type, InternalRow row) {
    for (int at = 0; at < steps.size(); at++) row = ((UnsafeProjection) steps.get(at)).apply(row);
    return text(row, 0, type);
  }

  /** Spark's error class, else the Java class. */
  public static String reason(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      if (at instanceof SparkThrowable) {
        String name = ((SparkThrowable) at).getCondition();
        if (name != null) return name;
      }
    }
    return failure.getClass().getName();
  }

  private static String text(SpecializedGetters from, int at, DataType type) {
    if (from.isNullAt(at)) return "null";
    if (type instanceof BooleanType) return String.valueOf(from.getBoolean(at));
    if (type instanceof ByteType) return String.valueOf((int) from.getByte(at));
    if (type instanceof ShortType) return String.valueOf((int) from.getShort(at));
    if (type instanceof IntegerType || type instanceof DateType || type instanceof YearMonthIntervalType)
      return String.valueOf(from.getInt(at));
    if (type instanceof FloatType)
      return String.valueOf(Float.floatToIntBits(from.getFloat(at)));
    if (type instanceof DoubleType)
      return String.valueOf(Double.doubleToLongBits(from.getDouble(at)));
    if (type instanceof StringType) return text(from.getUTF8String(at));
    if (type instanceof BinaryType) return "\"" + hex(from.getBinary(at)) + "\"";
    if (type instanceof DecimalType) return decimal(from, at, (DecimalType) type);
    return nested(from, at, type);
  }

  private static String nested(SpecializedGetters from, int at, DataType type) {
    if (type instanceof ArrayType) return array(from.getArray(at), ((ArrayType) type).elementType());
    if (type instanceof MapType) return map(from.getMap(at), (MapType) type);
    if (type instanceof StructType) return struct(from, at, (StructType) type);
    if (type instanceof CalendarIntervalType) {
      CalendarInterval interval = from.getInterval(at);
      return "[" + interval.months + "," + interval.days + "," + interval.microseconds + "]";
    }
    if (type instanceof VariantType) {
      Object value = from.get(at, type);
      return quoted(value.toString());
    }
    if (type instanceof NullType) return "null";
    return String.valueOf(from.getLong(at));
  }

  private static String decimal(SpecializedGetters from, int at, DecimalType type) {
    BigDecimal value = from.getDecimal(at, type.precision(), type.scale()).toJavaBigDecimal();
    return "\"" + value.setScale(type.scale()).toPlainString() + "\"";
  }

  private static String array(ArrayData data, DataType type) {
    StringBuilder out = new StringBuilder("[");
    for (int at = 0; at < data.numElements(); at++) {
      if (at > 0) out.append(',');
      out.append(text(data, at, type));
    }
    return out.append(']').toString();
  }

  private static String map(MapData data, MapType type) {
    StringBuilder out = new StringBuilder("[");
    for (int at = 0; at < data.numElements(); at++) {
      if (at > 0) out.append(',');
      out.append('[').append(text(data.keyArray(), at, type.keyType())).append(',');
      out.append(text(data.valueArray(), at, type.valueType())).append(']');
    }
    return out.append(']').toString();
  }

  private static String struct(SpecializedGetters from, int at, StructType type) {
    StructField[] fields = type.fields();
    InternalRow row = from.getStruct(at, fields.length);
    StringBuilder out = new StringBuilder("[");
    for (int field = 0; field < fields.length; field++) {
      if (field > 0) out.append(',');
      out.append(text(row, field, fields[field].dataType()));
    }
    return out.append(']').toString();
  }

  /** A text that is no UTF-8, such as of CAST(binary AS STRING), as its bytes. */
  private static String text(UTF8String value) {
    if (value.isValid()) return quoted(value.toString());
    return "{\"bytes\":\"" + hex(value.getBytes()) + "\"}";
  }

  private static String hex(byte[] bytes) {
    StringBuilder out = new StringBuilder();
    for (int at = 0; at < bytes.length; at++) {
      out.append(Character.forDigit((bytes[at] >> 4) & 15, 16));
      out.append(Character.forDigit(bytes[at] & 15, 16));
    }
    return out.toString();
  }

  private static String quoted(String text) {
    StringBuilder out = new StringBuilder("\"");
    for (int at = 0; at < text.length(); at++) {
      char letter = text.charAt(at);
      if (letter == '"' || letter == '\\') out.append('\\').append(letter);
      else if (letter < ' ' || letter > '~') out.append(String.format("\\u%04x", new Object[] {Integer.valueOf(letter)}));
      else out.append(letter);
    }
    return out.append('"').toString();
  }
}
